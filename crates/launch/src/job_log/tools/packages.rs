//! Package managers, images, gates, credentials, checkout and artifacts.

use super::super::tool::{Does, Extent, ProblemKind, Tool};
use super::{on, tool};

pub(super) static TOOLS: &[Tool] = &[
    tool(
        "registry login",
        ProblemKind::Credentials,
        &[
            on(r"^npm (?:ERR!|error) code (?P<code>E401|E403|ENEEDAUTH|EOTP)$", Does::Failure(Extent::Section)),
            on(
                r"^remote: (?P<message>(?:Permission to .* denied|Invalid username or (?:password|token)|HTTP Basic: Access denied|Support for password authentication was removed|Write access to repository not granted).*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^fatal: (?P<message>Authentication failed for .*|could not read (?:Username|Password) for .*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^fatal: (?P<message>unable to access '.*': The requested URL returned error: 40[13].*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?:.*: )?(?P<message>denied: (?:requested access to the resource is denied|permission_denied|Your authorization token has expired|installation not allowed).*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?:Error response from daemon: |ERROR: |Error: ).*(?P<message>unauthorized: .*)$", Does::Failure(Extent::Line)),
            on(
                r"^(?:ERROR:? +)?(?P<message>(?:HTTPError|twine\.exceptions\.\w+|HTTP Error): 40[13] .*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?:An error occurred \(|.*\()(?P<code>AccessDenied|AccessDeniedException|InvalidClientTokenId|ExpiredToken|ExpiredTokenException|UnrecognizedClientException|SignatureDoesNotMatch|InvalidAccessKeyId)\).*: (?P<message>.*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?P<message>Unable to locate credentials.*|Error: Credentials could not be loaded.*|Error: Could not load credentials from any providers.*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^\[ERROR\] .*(?P<message>status(?: code)?: 40[13][, ].*)$", Does::Failure(Extent::Line)),
            on(
                r"^(?:error|Error|ERROR): (?P<message>.*(?:401 Unauthorized|403 Forbidden|Bad credentials|Unauthorized|Resource not accessible by integration).*)$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "git",
        ProblemKind::Checkout,
        &[
            on(
                r"^(?:fatal|error|ERROR): (?P<message>(?:Repository not found|couldn't find remote ref|[Cc]ould not read from remote repository|reference is not a tree|repository '.*' not found|unable to access|unable to checkout|not a git repository|clone of '.*' into submodule path|pathspec '.*' did not match|the remote end hung up|early EOF|remote error|[Rr]emote branch .* not found|Unable to create '.*index\.lock'|[Nn]eed to specify how to reconcile|unable to find remote helper|No url found for submodule path).*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?:ssh: |kex_exchange_identification: )(?P<message>.*)$", Does::Outside(Extent::Line)),
            on(r"^Error downloading object: (?P<message>.*)$", Does::Failure(Extent::Line)),
            on(r"^(?:CONFLICT|error: (?:could not apply|Your local changes)).*$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "npm",
        ProblemKind::Dependency,
        &[
            on(
                r"^npm (?:ERR!|error) code (?P<code>ERESOLVE|E404|ETARGET|ENOTFOUND|EAI_AGAIN|ECONNRESET|ETIMEDOUT|ECONNREFUSED|EINTEGRITY|EUSAGE|ENOLOCK|EBADENGINE|EBADPLATFORM|ERR_SOCKET_TIMEOUT|EJSONPARSE|ENOVERSIONS|E5\d\d|EUNSUPPORTEDPROTOCOL|ENOWORKSPACES|SELF_SIGNED_CERT_IN_CHAIN|CERT_HAS_EXPIRED)$",
                Does::Failure(Extent::Section),
            ),
            on(r"^npm (?:ERR!|error) A complete log of this run.*$", Does::Disarm),
            on(
                r"^error (?P<message>(?:Couldn't find (?:any versions for|package)|An unexpected error occurred: .*(?:registry|request)|Your lockfile needs to be updated|.*incompatible with this module).*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?:➤ )?(?P<code>YN0\d+):.*(?:✖|│) +(?P<message>.*(?:[Cc]an't|No candidates|not found|forbidden|would have been modified).*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^\s*(?P<code>ERR_PNPM_\w+)\s+(?P<message>.*)$", Does::Failure(Extent::Section)),
            on(
                r"^error: (?P<message>(?:No version matching|lockfile had changes|\S+ failed to resolve|GET https?://\S+ - \d+).*)$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "npm script",
        ProblemKind::Command,
        &[
            on(r"^npm (?:ERR!|error) (?P<message>Missing script: .*)$", Does::Failure(Extent::Line)),
            on(r"^npm (?:ERR!|error) code (?P<code>ENOENT|EACCES|ENOSPC)$", Does::Failure(Extent::Section)),
        ],
    ),
    tool(
        "pip",
        ProblemKind::Dependency,
        &[
            on(
                r"^ERROR: (?P<message>(?:No matching distribution found for|Cannot install|ResolutionImpossible|Package '.*' requires a different Python|Could not install packages|Failed building wheel for|Failed to build|THESE PACKAGES DO NOT MATCH THE HASHES|Could not open requirements file|Invalid requirement|.* is not a supported wheel).*)$",
                Does::Failure(Extent::Blank),
            ),
            on(r"^ERROR: (?P<message>Could not find a version that satisfies .*)$", Does::Failure(Extent::Line)),
            on(
                r"^error: (?P<code>subprocess-exited-with-error|metadata-generation-failed|externally-managed-environment)$",
                Does::Failure(Extent::Section),
            ),
            on(
                r"^\s*(?:×|x) (?P<message>(?:No solution found when resolving|Failed to (?:download|build|resolve|fetch)).*)$",
                Does::Failure(Extent::Section),
            ),
            on(
                r"^(?:error: +)(?P<message>(?:No solution found when resolving|Failed to (?:fetch|download|build)|The lockfile at .* needs to be updated|Distribution .* can't be installed).*)$",
                Does::Failure(Extent::Section),
            ),
            on(
                r"^(?P<message>Because .* (?:depends on|requires) .*version solving failed\.|The lock file is not up to date.*|pyproject\.toml changed significantly since .*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?P<code>PackagesNotFoundError|UnsatisfiableError|LibMambaUnsatisfiableError|ResolvePackageNotFound): ?(?P<message>.*)$",
                Does::Failure(Extent::Section),
            ),
        ],
    ),
    tool(
        "cargo dependencies",
        ProblemKind::Dependency,
        &[on(
            r"^error: (?P<message>(?:no matching package|failed to select a version|failed to (?:get|load source|download|parse lock file|load manifest|query|fetch)|the lock file .* needs to be updated|cannot update the lock file|unable to update|checksum for).*)$",
            Does::Failure(Extent::Section),
        )],
    ),
    tool(
        "Go modules",
        ProblemKind::Dependency,
        &[
            on(
                r"^(?:(?P<file>\S+\.go):(?P<line>\d+):\d+: )(?P<message>(?:no required module provides package|cannot find (?:module|package)|module .* provides package|missing go\.sum entry|package \S+ is not in (?:std|GOROOT)).*)$",
                Does::Failure(Extent::Dedent),
            ),
            on(
                r"^go: (?P<message>(?:\S+: (?:reading|module|unrecognized import path|Get |invalid version|verifying|no matching versions)|updates to go\.mod|inconsistent vendoring|errors parsing go\.mod|cannot find|finding module|downloading .*failed|.* requires go >=).*)$",
                Does::Failure(Extent::Dedent),
            ),
            on(r"^verifying \S+: checksum mismatch$", Does::Failure(Extent::Section)),
        ],
    ),
    tool(
        "Bundler",
        ProblemKind::Dependency,
        &[on(
            r"^(?P<message>(?:Could not find (?:gem|compatible versions|\S+-\d)|Bundler could not find compatible versions|Your bundle is locked to|The bundle currently has|Your Ruby version is|An error occurred while installing|Gem::Ext::BuildError|Could not reach host|The gemspec for).*)$",
            Does::Failure(Extent::Section),
        )],
    ),
    tool(
        "Composer",
        ProblemKind::Dependency,
        &[
            on(
                r"^\s*(?P<message>Your requirements could not be resolved to an installable set of packages\.|The lock file is not up to date.*|Your lock file does not contain a compatible set of packages.*|Could not find (?:a matching version of )?package .*)$",
                Does::Failure(Extent::Section),
            ),
            on(
                r"^\s+(?P<message>The \S+ file could not be downloaded.*|The requested URL returned error: \d+.*)$",
                Does::Failure(Extent::Line),
            ),
        ],
    ),
    tool(
        "Hex",
        ProblemKind::Dependency,
        &[on(
            r"^\*\* \(Mix\) (?P<message>(?:Hex dependency resolution failed|No package with name|Unknown package|Couldn't|The dependency|Can't continue due to errors on dependencies).*)$",
            Does::Failure(Extent::Section),
        )],
    ),
    tool(
        "apt",
        ProblemKind::Dependency,
        &[
            on(
                r"^E: (?P<message>(?:Unable to locate package|Package '.*' has no installation candidate|Version '.*' for '.*' was not found|Unable to correct problems|Failed to fetch|The repository .* (?:does not|no longer has)|Unmet dependencies|Could not get lock|Unable to fetch some archives|Couldn't find any package).*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?P<message>(?:ERROR: unable to select packages|Error: Unable to find a match|No match for argument|error: target not found|Error: No available formula|nothing provides).*)$",
                Does::Failure(Extent::Section),
            ),
        ],
    ),
    tool(
        "Docker",
        ProblemKind::Image,
        &[
            on(r"^(?P<file>\S*Dockerfile\S*):(?P<line>\d+)$", Does::Context),
            on(
                r"^(?:ERROR|Error|error): (?P<message>(?:failed to (?:solve|build|push|export|do request)|failed to compute cache key|process \S.* did not complete successfully|failed to resolve source).*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^(?P<message>The command '.*' returned a non-zero code: \d+)$", Does::Failure(Extent::Line)),
            on(
                r"^(?:docker: )?(?:ERROR: )?Error response from daemon: (?P<message>(?:pull access denied|manifest for|manifest unknown|Get \S|toomanyrequests|No such image|Head |dockerfile parse error|received unexpected HTTP).*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?:.*: )?(?P<message>(?:toomanyrequests: |manifest unknown|no matching manifest for).*)$",
                Does::Outside(Extent::Line),
            ),
            on(r"^(?:COPY|ADD) failed: (?P<message>.*)$", Does::Failure(Extent::Line)),
            on(r"^(?:WARNING: )?Failed to pull image .*: (?P<message>.*)$", Does::Outside(Extent::Line)),
            on(r"^.*\b(?P<code>ImagePullBackOff|ErrImagePull)\b:?(?P<message>.*)$", Does::Failure(Extent::Line)),
        ],
    ),
    tool(
        "coverage gate",
        ProblemKind::Gate,
        &[
            on(r"^(?:FAIL|ERROR:?) (?P<message>Required test coverage of .* not reached.*)$", Does::Failure(Extent::Line)),
            on(r"^(?P<message>Coverage failure: total of .* is less than fail-under.*)$", Does::Failure(Extent::Line)),
            on(
                r"^(?:Error|ERROR): (?P<message>.*[Cc]overage .*(?:below|less than|does not meet|not met|under).*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?P<message>(?:Line|Branch)? ?[Cc]overage \([\d.]+%\) is below the (?:expected )?minimum.*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^.*(?P<message>QUALITY GATE STATUS: FAILED.*)$", Does::Failure(Extent::Line)),
            on(r"^(?P<message>(?:found )?\d+ vulnerabilit(?:y|ies) .*(?:high|critical).*)$", Does::Outside(Extent::Line)),
        ],
    ),
    tool(
        "artifacts",
        ProblemKind::Artifact,
        &[
            on(
                r"^(?:##\[error\]|Error: )?(?P<message>(?:Unable to (?:find|download) (?:any )?artifact|Artifact not found for name|No files were found with the provided path|Failed to (?:CreateArtifact|FinalizeArtifact|ListArtifacts|GetSignedArtifactURL)|Artifact .* was not found|Artifact storage quota has been hit|Path does not exist: ).*)$",
                Does::Failure(Extent::Line),
            ),
            on(
                r"^(?:ERROR|WARNING): (?P<message>(?:No files to upload|(?:Upload|Download)ing artifacts .* (?:40\d|41\d|5\d\d) .*|Uploading artifacts .* (?:fail|error).*|No artifacts found that match|.*No such file or directory.*artifacts.*).*)$",
                Does::Failure(Extent::Line),
            ),
            on(r"^WARNING: (?P<message>\S+: no matching (?:files|artifact).*)$", Does::Context),
        ],
    ),
];
