//! What secrets of known issuers look like. The prefixes, alphabets and lengths are the issuers' own, as their documentation and the lists of
//! secret scanners give them.

/// The characters of a secret after its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Upper-case letters and digits.
    Upper,
    /// Hexadecimal digits and `-`, as in a UUID.
    Uuid,
    /// Letters, digits, `_`, `-`.
    Word,
    /// Letters, digits, `_`, `-`, `.`, `=`, `~`.
    Dotted,
    /// Base64 of either alphabet, with padding, `.` and `%` of addresses.
    Base64,
    /// Whatever an address can hold.
    Path,
    /// Hashes of passwords: letters, digits, `.`, `/`, `$`, `=`, `,`, `+`, `-`.
    Hash,
}

impl Alphabet {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Uuid => matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'~'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'%'),
            Self::Path => {
                byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b')' | b']' | b'}' | b'|')
            }
            Self::Hash => byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'$' | b'=' | b',' | b'+' | b'-'),
        }
    }
}

/// What else must hold of a format's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatCheck {
    /// Nothing: no plain text has the prefix.
    Any,
    /// It has a digit, since names in plain text begin like that.
    Digit,
    /// It looks random, since much else begins like that.
    Random,
    /// Nothing, and the prefix stays: it is an address that everybody knows.
    Kept,
}

/// Secrets with the same alphabet, fewest characters after the prefix, and check.
pub(super) type SecretFormats = (Alphabet, usize, FormatCheck, &'static [&'static str]);

use Alphabet::{Alnum, Base64, Dotted, Hash, Path, Upper, Uuid, Word};
use FormatCheck::{Any, Digit, Kept, Random};

/// The formats of known issuers.
#[rustfmt::skip]
pub(super) const FORMATS: &[SecretFormats] = &[
    // ---- Code hosts, registries, CI
    (Alnum, 8, Any, &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "lin_api_"]),
    (Alnum, 16, Any, &["_gitlab_session=", "dp.pt.", "dp.ct.", "dp.sa.", "lin_oauth_", "CLOJARS_", "pnu_"]),
    (Alnum, 16, Digit, &["bkua_", "bkct_", "npm_", "vercel_", "nfp_", "phx_", "phc_"]),
    (Alnum, 16, Random, &["ATBB", "rnd_", "ico-", "oy2"]),
    (Alnum, 20, Any, &["rubygems_", "sqp_", "squ_", "sqa_", "pul-"]),
    (Alnum, 20, Random, &["v1.", "slk_"]),
    (Alnum, 24, Random, &["s.", "cmVmdGtu", "AKCp", "cmVmd"]),
    (Base64, 16, Any, &["FlyV1 fm"]),
    (Base64, 24, Random, &["fm1_", "fm2_"]),
    (Dotted, 8, Any, &["glpat-", "glrt-"]),
    (Dotted, 16, Any, &["dp.st.", "ATCTT3", "ATATT3", "tfp_", ".atlasv1."]),
    (Dotted, 16, Digit, &["infisical_"]),
    (Upper, 26, Digit, &["API-"]),
    (Word, 8, Any, &["pypi-AgE", "github_pat_", "gldt-", "glrtr-", "glft-", "glsoat-", "glcbt-", "glptt-", "glimt-", "glagent-", "gloas-", "glffct-"]),
    (Word, 16, Any, &["GR1348941", "dckr_pat_", "dckr_oat_", "hvs.", "hvb.", "hvr.", "PMAK-", "PMAT-", "HRKU-", "sgp_", "sha256~"]),
    (Word, 16, Digit, &["CCIPAT_", "CCIPRJ_"]),
    (Word, 24, Random, &["fly_", "fo1_", "ATOA"]),
    (Alnum, 25, Digit, &["oauth:"]),
    (Base64, 16, Any, &["LS0tLS1CRUdJTi", "eyJhdXRocyI6"]),
    // ---- Clouds
    (Word, 16, Any, &["APA91b"]),
    (Uuid, 36, Any, &["amzn.mws."]),
    (Alnum, 8, Any, &["dop_v1_", "doo_v1_", "dor_v1_"]),
    (Alnum, 12, Random, &["LTAI"]),
    (Alnum, 16, Digit, &["cfut_", "napi_"]),
    (Alnum, 16, Random, &["AKID"]),
    (Alnum, 20, Any, &["sbp_"]),
    (Alnum, 20, Random, &["v1.0-", "dapi", "dkea", "dose"]),
    (Alnum, 24, Random, &["4b1d", "nsec1"]),
    (Base64, 0, Any, &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "AQoDYXdz", "AQoEXAMPLE"]),
    (Base64, 16, Any, &["bedrock-api-key-", "ABSK"]),
    (Dotted, 8, Any, &["ya29."]),
    (Dotted, 16, Any, &["pscale_tkn_", "pscale_oauth_", "pscale_pw_", "t1.9euel"]),
    (Upper, 16, Any, &["AKIA"]),
    (Upper, 16, Digit, &["ASIA", "ABIA", "ACCA"]),
    (Upper, 17, Digit, &["A3T", "SCW"]),
    (Word, 16, Any, &["sb_secret_", "GOCSPX-", "AIza"]),
    (Word, 16, Digit, &["tk-us-"]),
    (Word, 24, Random, &["1//0", "AQVN", "YCA"]),
    // ---- Messages and mail
    (Alnum, 20, Any, &["mlsn."]),
    (Alnum, 20, Random, &["pubkey-", "key-"]),
    (Base64, 8, Digit, &["xoxd-"]),
    (Base64, 16, Any, &["sntrys_", "sntryu_"]),
    (Dotted, 8, Digit, &["xoxe."]),
    (Dotted, 16, Any, &["SG."]),
    (Path, 8, Kept, &[
        "hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/", "discord.com/api/webhooks/",
        "discordapp.com/api/webhooks/", "outlook.office.com/webhook/", "hooks.zapier.com/hooks/catch/", "api.telegram.org/bot",
        "chat.googleapis.com/v1/spaces/", "open.feishu.cn/open-apis/bot/v2/hook/", "maker.ifttt.com/use/"
    ]),
    (Path, 16, Kept, &[".webhook.office.com/webhook", ".logic.azure.com/workflows/"]),
    (Word, 8, Digit, &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xapp-", "xwfp-"]),
    (Word, 16, Any, &["xkeysib-", "xsmtpsib-"]),
    (Word, 24, Random, &["re_"]),
    // ---- Payment and shops
    (Alnum, 8, Any, &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "pk_live_", "shpat_"]),
    (Alnum, 12, Digit, &["rzp_live_", "rzp_test_"]),
    (Alnum, 16, Any, &["shpca_", "shppa_", "shpss_", "EZAK", "EZTK"]),
    (Alnum, 16, Random, &["cmk_"]),
    (Alnum, 20, Any, &["shippo_live_", "shippo_test_"]),
    (Alnum, 20, Random, &["live_", "test_"]),
    (Alnum, 24, Random, &["EAAC", "EAAM"]),
    (Base64, 16, Any, &["whsec_"]),
    (Word, 16, Any, &[
        "FLWSECK-", "FLWSECK_TEST-", "FLWPUBK_TEST-", "access_token$production$", "sq0atp-", "sq0csp-", "access-sandbox-", "access-development-",
        "access-production-"
    ]),
    (Word, 16, Digit, &["APP_USR-", "duffel_live_", "duffel_test_"]),
    (Word, 24, Random, &["EAAAE"]),
    // ---- Models
    (Alnum, 16, Digit, &["gsk_", "r8_", "hf_", "api_org_", "pplx-", "csk-", "jina_"]),
    (Alnum, 22, Random, &["fw_"]),
    (Alnum, 24, Random, &["sess-"]),
    (Base64, 16, Any, &["ops_eyJ"]),
    (Word, 8, Any, &["sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "sk-lf-", "nvapi-"]),
    (Word, 16, Digit, &["xai-", "tvly-", "lsv2_pt_", "lsv2_sk_", "pcsk_", "tgp_v1_", "wandb_v1_"]),
    (Word, 20, Random, &["sk-"]),
    (Word, 24, Random, &["voyage-"]),
    // ---- Watching, tickets, documents, forms
    (Alnum, 16, Any, &["p8e-", "NRJS-"]),
    (Alnum, 16, Digit, &["tok_live_", "k_live_", "ps_live_", "zpka_", "ddp_", "ubrk_", "uak_", "ntn_", "intk_", "rdme_", "tly-"]),
    (Alnum, 20, Any, &["NRRA-", "s-s4t2ud-", "s-s4t2af-"]),
    (Alnum, 20, Random, &["SK"]),
    (Alnum, 24, Random, &["secret_", "zm_", "EAAG", "xprv"]),
    (Base64, 0, Any, &["b3BlbnNzaC1rZXkt"]),
    (Base64, 16, Any, &["b.AAAAAQ", "eyJrIjoi"]),
    (Base64, 16, Digit, &["glc_"]),
    (Base64, 24, Random, &["AAAAAAAAAAAAAAAAAAAAA"]),
    (Dotted, 16, Any, &["dt0c01.", "dt0s16.", "sk.eyJ", "pk.eyJ"]),
    (Dotted, 24, Random, &["pat"]),
    (Upper, 8, Any, &["AGE-SECRET-KEY-1"]),
    (Upper, 16, Any, &["NRAK-"]),
    (Uuid, 36, Any, &["sdk-", "api-", "mob-"]),
    (Word, 16, Any, &["pat-na1-", "pat-eu1-", "figd_", "figo_", "figoh_", "NRII-", "glsa_", "CFPAT-"]),
    (Word, 16, Digit, &["tskey-", "dnkey-", "fio-u-"]),
    (Word, 24, Random, &["A3-", "pa-", "sl."]),
    // ---- Hashes of passwords
    (Base64, 16, Any, &["{SSHA}", "{SHA}"]),
    (Hash, 20, Random, &["$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$apr1$", "$argon2", "$pbkdf2", "$scrypt$", "pbkdf2_sha256$"]),
];
