#!/bin/sh
# An agent that takes a picture of a run's page with headless Chromium: the first index.html below $ASTERISK_RUN_DIR, which
# `asterisk` sets. Without a browser it fails, and the next agent of the chain answers.
set -u
page=$(find "$ASTERISK_RUN_DIR" -name index.html | sort | head -n 1)
[ -n "$page" ] || { echo "there is no index.html below $ASTERISK_RUN_DIR" >&2; exit 1; }
browser=
for name in "${BROWSER_COMMAND:-}" chromium chromium-browser google-chrome google-chrome-stable chrome; do
    [ -n "$name" ] && command -v "$name" >/dev/null && { browser=$name; break; }
done
[ -n "$browser" ] || { echo "no Chromium is installed (apt-get install chromium), and BROWSER_COMMAND names none" >&2; exit 1; }
# Chromium refuses its sandbox to root only.
sandbox=
[ "$(id -u)" = 0 ] && sandbox=--no-sandbox
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
"$browser" --headless $sandbox --disable-gpu --hide-scrollbars --no-first-run --user-data-dir="$profile" \
    --window-size="${WINDOW_SIZE:-1280,1600}" --screenshot="$ASTERISK_RUN_DIR/screenshot.png" \
    "file://$(printf %s "$page" | sed 's/%/%25/g; s/ /%20/g; s/#/%23/g; s/?/%3F/g')" >/dev/null 2>"$profile/log" ||
    { tail -n 5 "$profile/log" >&2; exit 1; }
[ -s "$ASTERISK_RUN_DIR/screenshot.png" ] || { echo "$browser drew nothing" >&2; exit 1; }
cat <<END
{"content": "A picture of $(basename "$page"), taken by $browser at ${WINDOW_SIZE:-1280,1600}.",
 "artifacts": [{"name": "screenshot.png", "type": "image", "path": "screenshot.png"}],
 "metadata": {"browser": "$browser"}}
END
