//! Known formats of secrets in all kinds of surroundings, and harmless texts that look a little like them. All values are made up.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::Diagnostic;
use proptest::prelude::*;

/// A text, and the secret in it.
#[rustfmt::skip]
const SECRETS: &[(&str, &str)] = &[
    ("ghp_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja0001", "ghp_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja0001"),
    ("github_pat_11Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja0002", "github_pat_11Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja0002"),
    ("AKIAZQ8WM3XK7RT2VB9N", "AKIAZQ8WM3XK7RT2VB9N"),
    ("AWS_SECRET_ACCESS_KEY=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaaws03+/xyz", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaaws03+/xyz"),
    ("\"SecretAccessKey\": \"Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaaws04+/xyz\"", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaaws04+/xyz"),
    ("AWS_SESSION_TOKEN=IQoJb3JpZ2luZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja05", "IQoJb3JpZ2luZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja05"),
    ("xoxb-123456789012-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja06", "xoxb-123456789012-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja06"),
    ("xapp-1-A0B1C2-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja07", "xapp-1-A0B1C2-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja07"),
    ("https://hooks.slack.com/services/T0AAAA/B0BBBB/Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja08", "T0AAAA/B0BBBB/Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja08"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja09", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja09"),
    ("eyJhbGciOiJSU0EtT0FFUCJ9.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja10.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja.xx", "eyJhbGciOiJSU0EtT0FFUCJ9.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja10.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja.xx"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja11\n-----END RSA PRIVATE KEY-----", "MIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja11"),
    ("\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja12\\n-----END PRIVATE KEY-----\\n\"", "MIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja12"),
    ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\nMIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja13\n-----END RSA PRIVATE KEY-----", "MIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja13"),
    ("| -----BEGIN PRIVATE KEY-----\n| MIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja14\n| -----END PRIVATE KEY-----", "MIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja14"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja15\n-----END OPENSSH PRIVATE KEY-----", "b3BlbnNzZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja15"),
    ("https://user:Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja16@example.com/x", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja16"),
    ("https://user:pa@Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja17@example.com/x", "pa@Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja17"),
    ("postgres://user:pa/Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja18@example.com/x", "pa/Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja18"),
    ("https://Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja19@dev.azure.com/org", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja19"),
    ("npm_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja20", "npm_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja20"),
    ("//registry.npmjs.org/:_authToken=d3adb33f-0000-4000-8000-00000000d021", "d3adb33f-0000-4000-8000-00000000d021"),
    ("pypi-AgEIcHlwaS5vcmcZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja22", "pypi-AgEIcHlwaS5vcmcZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja22"),
    ("sk_live_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja23", "sk_live_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja23"),
    ("sk-proj-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja24", "sk-proj-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja24"),
    ("sk-ant-api03-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja25", "sk-ant-api03-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja25"),
    ("hf_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja26", "hf_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja26"),
    ("SG.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Y.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja27", "SG.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Y.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja27"),
    ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja28==;EndpointSuffix=core.windows.net", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja28=="),
    ("https://x.blob.core.windows.net/c?sv=2022&sig=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja29%3D", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja29%3D"),
    ("ya29.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja30", "ya29.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja30"),
    ("AIzaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja31abc", "AIzaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja31abc"),
    ("password=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja32", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja32"),
    ("DB_PASSWORD=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja33", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja33"),
    ("POSTGRES_PASSWORD: Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja34", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja34"),
    ("spring.datasource.password=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja35", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja35"),
    ("\"userPassword\": \"Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja36\"", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja36"),
    ("mysql --password Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja37 -u x", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja37"),
    ("password: \"correct horse Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja38\"", "correct horse Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja38"),
    ("token=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja39", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja39"),
    ("glrt-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja40", "glrt-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja40"),
    ("Authorization: token Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja41", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja41"),
    ("Cookie: session=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja42; path=/", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja42"),
    ("X-Api-Key: Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja43", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja43"),
    ("PRIVATE-TOKEN: Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja44", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja44"),
    ("passphrase=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja45", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja45"),
    ("Authorization: Bearer Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja46", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja46"),
    ("Authorization: Basic dTpacThXbTNYazdSdDJWYjlOYzVMcDFZZDZIZjRHczBKYTQ3", "dTpacThXbTNYazdSdDJWYjlOYzVMcDFZZDZIZjRHczBKYTQ3"),
    ("dop_v1_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja48", "dop_v1_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja48"),
    ("contact john.q.public49@example.com", "john.q.public49"),
    ("card 4111 1111 1111 1150", "4111 1111 1111 1150"),
    ("ghp_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja51", "ghp_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja51"),
    ("pass\u{200b}word=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja52", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja52"),
    ("123456789:AAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja53", "123456789:AAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja53"),
    ("sshpass -p Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja54 ssh x", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja54"),
    ("jdbc:oracle:thin:scott/Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja55@//h:1/x", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja55"),
    ("jdbc:mysql://h/x?user=a&password=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja56", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja56"),
    ("data:\n  tls.key: WnE4V20zWGs3UnQyVmI5TmM1THAxWWQ2SGY0R3MwSmE1Nw==", "WnE4V20zWGs3UnQyVmI5TmM1THAxWWQ2SGY0R3MwSmE1Nw=="),
    ("localhost:5432:db:user:Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja58", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja58"),
    ("ghr_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja61", "ghr_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja61"),
    ("gldt-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja62", "gldt-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja62"),
    ("ATBBZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja63", "ATBBZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja63"),
    ("ATATT3xFfGF0Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja64", "ATATT3xFfGF0Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja64"),
    ("pul-3f9a1c7be2d4805f6a1b9c3d7e2f4a6012345678", "pul-3f9a1c7be2d4805f6a1b9c3d7e2f4a6012345678"),
    ("dp.pt.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja65", "dp.pt.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja65"),
    ("dckr_pat_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4", "dckr_pat_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4"),
    ("rubygems_3f9a1c7be2d4805f6a1b9c3d7e2f4a600123456789abcdef", "rubygems_3f9a1c7be2d4805f6a1b9c3d7e2f4a600123456789abcdef"),
    ("SK3f9a1c7be2d4805f6a1b9c3d7e2f4a60", "SK3f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("key-3f9a1c7be2d4805f6a1b9c3d7e2f4a60", "key-3f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("3f9a1c7be2d4805f6a1b9c3d7e2f4a60-us12", "3f9a1c7be2d4805f6a1b9c3d7e2f4a60-us12"),
    ("sq0atp-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Y", "sq0atp-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Y"),
    ("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", "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"),
    ("NRAK-ZQ8WM3XK7RT2VB9NABCDEFGHI1A", "NRAK-ZQ8WM3XK7RT2VB9NABCDEFGHI1A"),
    ("DD-API-KEY: 3f9a1c7be2d4805f6a1b9c3d7e2f4a60", "3f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("dapi3f9a1c7be2d4805f6a1b9c3d7e2f4a60", "dapi3f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("hvs.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "hvs.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("Zq8Wm3Xk7Rt2Vb.atlasv1.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "Zq8Wm3Xk7Rt2Vb.atlasv1.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("glsa_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja_3f9a1c7b", "glsa_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja_3f9a1c7b"),
    ("sntrys_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "sntrys_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("lin_api_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "lin_api_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("secret_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt", "secret_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt"),
    ("patZq8Wm3Xk7Rt2Vb.3f9a1c7be2d4805f6a1b9c3d7e2f4a603f9a1c7be2d4805f6a1b9c3d7e2f4a60", "patZq8Wm3Xk7Rt2Vb.3f9a1c7be2d4805f6a1b9c3d7e2f4a603f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("PMAK-3f9a1c7be2d4805f6a1b9c3d-3f9a1c7be2d4805f6a1b9c3d7e2f4a6034", "PMAK-3f9a1c7be2d4805f6a1b9c3d-3f9a1c7be2d4805f6a1b9c3d7e2f4a6034"),
    ("figd_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "figd_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("CLOUDFLARE_API_TOKEN=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja12345678", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja12345678"),
    ("HEROKU_API_KEY=d3adb33f-0000-4000-8000-00000000d021", "d3adb33f-0000-4000-8000-00000000d021"),
    ("DISCORD_TOKEN=MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4", "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4"),
    ("https://discord.com/api/webhooks/123456789012345678/Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "123456789012345678/Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("abc8Q~Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaab", "abc8Q~Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaab"),
    ("machine x.com login bob password Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("\"auth\": \"dXNlcjpacThXbTNYazdSdDJWYjlOYzVMcDFZZDZIZjRHczBKYQ==\"", "dXNlcjpacThXbTNYazdSdDJWYjlOYzVMcDFZZDZIZjRHczBKYQ=="),
    ("    token: Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("client-key-data: WnE4V20zWGs3UnQyVmI5TmM1THAxWWQ2SGY0R3MwSmFacThXbTNYazdSdDJWYjlOYzVMcDFZZDZIZjRHczBKYVpxOFdtM1hrN1J0MlZiOU5jNUxwMVlkNkhmNEdzMEph", "WnE4V20zWGs3UnQyVmI5TmM1THAxWWQ2SGY0R3MwSmFacThXbTNYazdSdDJWYjlOYzVMcDFZZDZIZjRHczBKYVpxOFdtM1hrN1J0MlZiOU5jNUxwMVlkNkhmNEdzMEph"),
    ("sqlplus scott/tiger77@db", "tiger77"),
    ("mysql -uroot -pHunter2x db", "Hunter2x"),
    ("curl -u admin:hunter22 https://x", "hunter22"),
    (":password=>\"hunter2hunter2\"", "hunter2hunter2"),
    ("{'user': 'a', 'password': 'hunter2'}", "hunter2"),
    ("map[password:hunter2 user:a]", "hunter2"),
    ("User(name=a, password=hunter2, id=3)", "hunter2"),
    ("<password>hunter2</password>", "hunter2"),
    ("<add key=\"Password\" value=\"hunter2\"/>", "hunter2"),
    ("{\\\"password\\\":\\\"hunter2\\\"}", "hunter2"),
    ("a=1&password=hunter2hunter&b=2", "hunter2hunter"),
    ("next=%2F%3Fpassword%3Dhunter2hunter%26x", "hunter2hunter"),
    ("Server=a;User Id=b;Password=hunter2!x;Encrypt=true", "hunter2!x"),
    ("redis://:hunter2x@h:6379/0", "hunter2x"),
    ("amqp://u:hunter2x@h:5672/v", "hunter2x"),
    ("mongodb+srv://u:hunter2x@c.mongodb.net/db?x", "hunter2x"),
    ("root:hunter2x@tcp(127.0.0.1:3306)/db", "hunter2x"),
    ("HTTP_PROXY=http://u:hunter2x@proxy:3128", "hunter2x"),
    ("$2b$12$abcdefghijklmnopqrstuu1234567890abcdefghijklmnopqrstu", "$2b$12$abcdefghijklmnopqrstuu1234567890abcdefghijklmnopqrstu"),
    ("$6$saltsalt$Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "$6$saltsalt$Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("Set-Cookie: sid=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja; HttpOnly", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("csrf_token=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("X-Amz-Signature=3f9a1c7be2d4805f6a1b9c3d7e2f4a603f9a1c7be2d4805f6a1b9c3d7e2f4a60", "3f9a1c7be2d4805f6a1b9c3d7e2f4a603f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("Authorization: AWS4-HMAC-SHA256 Credential=AKIAZQ8WM3XK7RT2VB9N/2026/us/s3/aws4_request, SignedHeaders=host, Signature=3f9a1c7be2d4805f6a1b9c3d7e2f4a603f9a1c7be2d4805f6a1b9c3d7e2f4a60", "3f9a1c7be2d4805f6a1b9c3d7e2f4a603f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("Authorization: Digest username=\"bob\", realm=\"x\", response=\"3f9a1c7be2d4805f6a1b9c3d7e2f4a60\"", "3f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("Authorization: Negotiate YIIJZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "YIIJZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("Proxy-Authorization: Basic dTpacThXbTNYazdSdDJWYjlOYzVMcDFZZDZIZjRHczBKYQ==", "dTpacThXbTNYazdSdDJWYjlOYzVMcDFZZDZIZjRHczBKYQ=="),
    ("mnemonic: \"legal winner thank year wave sausage worth useful legal winner thank yellow\"", "legal winner thank year wave sausage worth useful legal winner thank yellow"),
    ("JWT_SECRET=hunter2xyz", "hunter2xyz"),
    ("client_secret: hunter2xyz", "hunter2xyz"),
    ("  password: aHVudGVyMmh1bnRlcjI=", "aHVudGVyMmh1bnRlcjI="),
    ("password = \"hunter2hunter\"", "hunter2hunter"),
    ("passwd = hunter2hunter", "hunter2hunter"),
    ("-e POSTGRES_PASSWORD=hunter2xyz postgres", "hunter2xyz"),
    ("ansible_ssh_pass=hunter2xyz", "hunter2xyz"),
    ("SMTP_PASS: hunter2xyz", "hunter2xyz"),
    ("--client-secret hunter2xyz", "hunter2xyz"),
    ("--token Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("card=4111-1111-1111-1111", "4111-1111-1111-1111"),
    ("3782 822463 10005", "3782 822463 10005"),
    ("https://x.webhook.office.com/webhookb2/abc@def/IncomingWebhook/3f9a1c7be2d4805f6a1b9c3d7e2f4a60/d3adb33f", "abc@def/IncomingWebhook/3f9a1c7be2d4805f6a1b9c3d7e2f4a60/d3adb33f"),
    ("https://api.telegram.org/bot123456789:AAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja1/send", "123456789:AAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja1"),
    ("?sv=1&sig=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja%3D&se=2", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja%3D"),
    ("https://x/cb?code=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja&state=1", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("https://x/#access_token=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja&t=b", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("//registry.npmjs.org/:_authToken=npm_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "npm_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("https://__token__:Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja@pypi.org/simple", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("https://oauth2:Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja@gitlab.com/x.git", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("https://x-access-token:ghs_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja@github.com/x", "ghs_Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("Jenkins-Crumb: 3f9a1c7be2d4805f6a1b9c3d7e2f4a60", "3f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("sqp_3f9a1c7be2d4805f6a1b9c3d7e2f4a6012345678", "sqp_3f9a1c7be2d4805f6a1b9c3d7e2f4a6012345678"),
    ("SNYK_TOKEN=d3adb33f-0000-4000-8000-00000000d022", "d3adb33f-0000-4000-8000-00000000d022"),
    ("codecov token: d3adb33f-0000-4000-8000-00000000d023", "d3adb33f-0000-4000-8000-00000000d023"),
    ("SSWS 00Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaabcdefgh", "00Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaabcdefgh"),
    ("Authorization: SSWS 00Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaabcdefgh", "00Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaabcdefgh"),
    ("ASANA_PAT=1/1234567890123456:3f9a1c7be2d4805f6a1b9c3d7e2f4a60", "1/1234567890123456:3f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("access_token$production$x9$A21AAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "A21AAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("-----BEGIN RSA PRIVATE KEY----- MIIEpAIBAAKCAQEAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja -----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBFZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja\n-----END PGP PRIVATE KEY BLOCK-----", "lQOYBFZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\nAAAAgQZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja\nPrivate-MAC: x", "AAAAgQZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("-----BEGIN EC PRIVATE KEY-----\nMIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "MIIEZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("PrivateKey = Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaabcdefghij0=", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaabcdefghij0="),
    ("SECRET_KEY = 'django-insecure-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja'", "django-insecure-Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("secret_key_base: 3f9a1c7be2d4805f6a1b9c3d7e2f4a603f9a1c7be2d4805f6a1b9c3d7e2f4a60", "3f9a1c7be2d4805f6a1b9c3d7e2f4a603f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("FERNET_KEY=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaabcdefghijk=", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Jaabcdefghijk="),
    ("hmac_secret=3f9a1c7be2d4805f6a1b9c3d7e2f4a60", "3f9a1c7be2d4805f6a1b9c3d7e2f4a60"),
    ("aws_secret_access_key = Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaabcdEF/+", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaabcdEF/+"),
    ("\"refresh_token\": \"1//0gZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja\"", "1//0gZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("sbp_3f9a1c7be2d4805f6a1b9c3d7e2f4a6001234567", "sbp_3f9a1c7be2d4805f6a1b9c3d7e2f4a6001234567"),
    ("VERCEL_TOKEN=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6"),
    ("sha256~Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt", "sha256~Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaZq8Wm3Xk7Rt"),
    ("Cookie: a=b; token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("EXPO_TOKEN=Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("FIREBASE_TOKEN=1//Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "1//Zq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("amzn.mws.4ea38b7b-f563-7709-4bae-87aea15c5c3c", "amzn.mws.4ea38b7b-f563-7709-4bae-87aea15c5c3c"),
    ("EAACEdEose0cBAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaabcdEF12", "EAACEdEose0cBAZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0JaabcdEF12"),
    ("AAAAAAAAAAAAAAAAAAAAAMLheAAAAAAA0%2BuSeidZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja", "AAAAAAAAAAAAAAAAAAAAAMLheAAAAAAA0%2BuSeidZq8Wm3Xk7Rt2Vb9Nc5Lp1Yd6Hf4Gs0Ja"),
    ("Authorization: Bearer never-to-be-seen-1", "never-to-be-seen-1"),
    ("pypi-AgEIcHlwaS5vcmcCJGEXAMPLE", "pypi-AgEIcHlwaS5vcmcCJGEXAMPLE"),
];

/// What stands around a text: `{}`.
const SURROUNDINGS: &[&str] = &[
    "{}",
    "error: request failed with {} end",
    "test[{}]",
    "\"{}\"",
    "'{}'",
    "({})",
    "a, {}, b",
    "Expected: {}\nActual: x",
    "<{}>",
    "`{}`",
    "[{}]",
    "{}.",
    "{}, next",
    "x={};",
    "log line 1\n2026-01-01T00:00:00Z INFO {}\nnext",
    "com.example.Test::a[{}]",
    "param={}",
    "{\"message\":\"{}\"}",
    "E   AssertionError: assert \"{}\" == \"b\"",
    "\\n{}\\n",
    "\u{200b}{}",
    "grün {} grün",
];

/// Harmless texts with words that occur near secrets.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "org.junit.ComparisonFailure: expected:<[token]> but was:<[]>", "SyntaxError: Unexpected token < in JSON at position 0", "SyntaxError: Unexpected token: '}'", "Expected token: IDENTIFIER, found: NUMBER",
    "Invalid password: must be at least 8 characters", "password: must not be blank", "Password is required", "{\"password\":[\"This field is required.\"]}", "assert user.password is not None", "password: string;", "password: str = None",
    "let token = lexer.next_token();", "secretName: db-credentials", "Error from server (NotFound): secrets \"db-credentials\" not found", "secret \"app-config-v2\" not found", "TokenExpiredError: jwt expired", "key: value", "cache key: 9e107d9d372bb6826bd81d3542a419d6",
    "keyword argument 'key' is missing", "KeyError: 'api_key'", "KeyError: 'password'", "unexpected keyword argument 'auth_token'", "fatal: Authentication failed for 'https://github.com/org/repo.git/'", "Authorization: Bearer <token>", "Authorization: Bearer ${TOKEN}", "Authorization header is missing",
    "Bearer token is invalid", "basic auth failed", "at com.example.auth.TokenService.refresh(TokenService.java:42)", "at Object.password (login.spec.js:9:3)", "test_password_reset_token_expires", "com.example.PasswordEncoderTest::encodes", "max_tokens=4096, token_count: 12", "next_token: 12", "PASS src/token.test.js",
    "commit 0123456789abcdef0123456789abcdef01234567", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "integrity sha512-abc", "uuid 123e4567-e89b-12d3-a456-426614174000", "session 123e4567-e89b-12d3-a456-426614174000 not created", "pwd: /home/runner/work/app", "PWD=/builds/group/project",
    "https://example.com:8080/path@2x.png", "https://registry.npmjs.org/@scope/pkg/-/pkg-1.2.3.tgz", "ssh://git@github.com/org/repo.git", "git@github.com:org/repo.git", "react@18.2.0", "icon@2x.png", "http://localhost:5432/", "jdbc:postgresql://localhost:5432/test",
    "$2 was expected", "cost: $100", "task-runner-2024-long-name-of-a-thing", "risk-assessment-2024-11", "desk-reservation-service-7d9f8b6c5d-x2x4z", "k8s pod web-7f9c6d8b5-abcde", "sk-SK locale is not supported", "hf_transformers is not installed", "npm_config_cache=/tmp", "s.getElementByAccessibilityId(x)",
    "4000 1000 2000 3000", "1234 5678 9012 3456 rows", "org.example.Base64InputStreamTest.decodesLongTexts2", "expected 2026-11-27T10:00:00Z", "0x7f3a9c1d2e40", "assertEquals(secret, vault.read())", "credentials: include", "cookie not found", "the cookie: none", "signature: foo(int, String)",
    "passed: 12, failed: 3", "bypass=true", "compass: north", "author: Jane", "monkey: 1, turkey: 2", "hockey_pass: 3", "AKIA is a prefix", "eyJ is how it begins", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
    "password=***", "password: [REDACTED]", "token: ${{ secrets.GITHUB_TOKEN }}", "DB_PASSWORD=$DB_PASSWORD", "--password-stdin", "process.env.API_KEY is undefined", "API_KEY: undefined", "access_token: null", "\"token\": \"\"", "secret: false",
];

fn found(text: &str) -> Vec<&str> {
    secrets_in(text).into_iter().map(|(span, _)| &text[span.start..span.end]).collect()
}

#[test]
fn secrets_are_known_by_their_names_and_forms() {
    for (text, secret) in [
        ("api_key: hunter2", "hunter2"),
        ("{ ANTHROPIC_API_KEY: \"hunter2\", x: 1 }", "hunter2"),
        ("command: [x, --api-key=hunter2]", "hunter2"),
        ("command: [x, \"--api-key\", \"hunter2\"]", "hunter2"),
        ("command:\n  - x\n  - --token\n  - hunter2\n", "hunter2"),
        ("x -token hunter2 y", "hunter2"),
        ("command: [x, --api-key, hunter2]", "hunter2"),
        ("url: https://h/v1?a=1&key=hunter2", "hunter2"),
        ("https://h/v1#access_token=hunter2", "hunter2"),
        ("https://me:hunter2@h/v1", "me:hunter2"),
        ("env: sk-proj-1234567890", "sk-proj-1234567890"),
        ("header: 'Authorization: Bearer hunter2'", "hunter2"),
        ("x ghp_0123456789abcdef y", "ghp_0123456789abcdef"),
        ("v: AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("v: eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc", "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc"),
        ("v: xY7pQ2mK9vR4tB8nL3wZ6cF1", "xY7pQ2mK9vR4tB8nL3wZ6cF1"),
    ] {
        assert_eq!(found(text), [secret], "{text}");
        let shown = starred(text);
        assert!(!shown.contains(secret) && shown.len() == text.len(), "{shown}");
    }
}

#[test]
fn settings_without_secrets_stay_unchanged() {
    for text in [
        "secret: { env: OPENAI_API_KEY }",
        "token: { file: keys/token }",
        "tokens: { in: usage.prompt_tokens, out: usage.completion_tokens }",
        "env: { KEY: { env: NOTES_KEY }, MODE: plain }",
        "command: [claude, -p, --model, opus-4-20260101]",
        "command: [x, --token-file, token, --max-tokens=4096]",
        "api_key: $API_KEY",
        "password:",
        "max_token: 4096",
        "url: https://api.example.com/v1?version=2026-02-14&mode=fast",
        "branch: 0123456789abcdef0123456789abcdef01234567",
        "path: ../MyProject2/InvestigationPipelines2026Final",
        "risk-assessment-of-2026 task-1234567890",
        "poll: 500ms, timeout: 30s",
    ] {
        assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        assert_eq!(starred(text), text);
    }
}

#[test]
fn every_known_format_is_found_in_all_surroundings() {
    for (text, secret) in SECRETS {
        for around in SURROUNDINGS {
            let whole = around.replace("{}", text);
            let masked = mask_secrets(&whole).unwrap_or_else(|| panic!("nothing is masked in {whole}"));
            let tail = &secret[secret.len().saturating_sub(10)..];
            assert!(!masked.contains(tail), "{masked}\nof {whole}");
            assert_eq!(mask_secrets(&masked).unwrap_or_else(|| masked.clone()), masked, "masking again changes nothing");
        }
    }
}

#[test]
fn harmless_texts_stay_unchanged() {
    for text in HARMLESS {
        assert_eq!(mask_secrets(text), None, "{text}");
    }
}

#[test]
fn characters_without_width_hide_nothing() {
    for hidden in ["\u{200b}", "\u{200d}", "\u{feff}", "\u{ad}"] {
        let text = format!("a pass{hidden}word=hunter2hunter2 b gh{hidden}p_abcdefghij{hidden}klmnop c");
        assert_eq!(mask_secrets(&text).unwrap(), format!("a pass{hidden}word=*** b *** c"));
    }
}

#[test]
fn findings_show_no_secrets_of_their_text() {
    let source = Source::new("r.xml", "<a>\npassword=hunter2hunter2 <b>");
    let found =
        Diagnostic::error("x/y", "`token=ghp_abcdefghijklmnop` is wrong").label(&source, Span::new(4, 10), "DB_PASSWORD=hunter2");
    let hidden: Vec<Diagnostic> = hide_secrets(found.into()).into_iter().collect();
    assert_eq!((hidden[0].message.as_str(), hidden[0].labels[0].text.as_str()), ("`token=***` is wrong", "DB_PASSWORD=***"));
    assert_eq!(hidden[0].labels[0].source.text(), "<a>\npassword=************** <b>");
}

/// Pieces of which texts are made that look for trouble: prefixes, names, marks.
const PIECES: &[&str] = &[
    "password",
    "=",
    ":",
    " ",
    "\"",
    "\\",
    "'",
    "://",
    "@",
    "eyJ",
    ".",
    "-----BEGIN ",
    "PRIVATE KEY",
    "-----",
    "\n",
    "basic ",
    "token",
    "é",
    "\u{200b}",
    "(",
    ")",
    "ghp_",
    "Zq8Wm3Xk7Rt2Vb9N",
    "curl -u ",
    "4111 ",
    "%3D",
    "&",
    "authorization",
    "cookie",
    "x",
    "1",
    "👍",
];

proptest! {
    #[test]
    fn no_text_panics_and_masking_is_done_once(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..24)) {
        let text = pieces.concat();
        let spans = secrets_in(&text);
        prop_assert!(spans.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
        prop_assert_eq!(starred(&text).chars().filter(|ch| *ch == 'é').count() <= text.matches('é').count(), true);
        let mut masked = text;
        for _ in 0..8 {
            let Some(again) = mask_secrets(&masked) else { return Ok(()) };
            if again == masked {
                return Ok(());
            }
            masked = again;
        }
        prop_assert!(false, "masking does not come to an end: {masked}");
    }
}
