#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# timeline_page.sh - the page of ftrma-timeline in headless Chromium, wide and narrow, with 64 ranks
# and 1000 checkpoints: it draws, no label lies on another, and zooming to a loss shows the replay.
. "$(dirname "$0")/lib.sh"
chromium=$(command -v chromium || command -v chromium-browser) || skip "chromium is not installed"
python3 "$here/large_trace.py" >trace.json || fail "there is no trace to draw"
"$build/bin/ftrma-timeline" trace.json || fail "ftrma-timeline ended with $?"

# What the page looks like is written into its root element, where --dump-dom shows it.
cat >check.js <<'EOF'
<script>
const overlaps = () => {
  const texts = [...document.querySelectorAll('#rows text, #axis text')];
  const boxes = texts.map(t => [t.getBoundingClientRect(), t.textContent]);
  const bad = [];
  boxes.sort((a, b) => a[0].top - b[0].top);
  for (let i = 0; i < boxes.length; i++)
    for (let k = i + 1; k < boxes.length && boxes[k][0].top < boxes[i][0].bottom - 3; k++)
      if (boxes[i][0].left < boxes[k][0].right - 1 && boxes[k][0].left < boxes[i][0].right - 1)
        bad.push(boxes[i][1] + '/' + boxes[k][1]);
  return bad.slice(0, 5).join(', ') || 'none';
};
const labels = () => [...document.querySelectorAll('#rows .label')].map(t => t.textContent);
const root = document.documentElement.dataset, bars = () => document.querySelectorAll('#rows rect').length;
root.names = document.querySelectorAll('#rows .name').length;
root.bars = bars() > 64 && bars() < 60000 ? 'some' : bars();
root.overlaps = overlaps();
root.outside = [...document.querySelectorAll('#rows text')].filter(t => t.getBoundingClientRect().left < 0 ||
  t.getBoundingClientRect().right > innerWidth).length;
root.lost = labels().filter(t => t === 'lost').length;
part.value = '1'; /* the first loss's rank is live before the second's */
part.onchange();
root.second = labels().filter(t => t === 'live').length;
part.value = '2';
part.onchange();
root.zoomed = overlaps();
root.replay = labels().filter(t => t === 'replay').length;
document.querySelector('#rows .mark').dispatchEvent(new Event('click', { bubbles: true }));
root.read = what.textContent;
const from = view.begin, range = view.end - view.begin;
document.getElementById('in').click();
root.closer = Math.round((view.end - view.begin) / range * 100);
document.getElementById('right').click();
root.moved = view.begin > from;
</script>
EOF
cat trace.html check.js >checked.html
for width in 1280 420; do
    mkdir -p "$work/chromium"
    HOME=$work timeout -k 5 "$CLI_LIMIT" "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/chromium" --window-size="$width,900" \
        --dump-dom "file://$work/checked.html" >dom 2>chromium.err || {
        fail "chromium ended with $?: $(tail -3 chromium.err)"
        break
    }
    root=$(grep -o '<html [^>]*>' dom | head -1)
    for want in 'names="76"' 'bars="some"' 'overlaps="none"' 'outside="0"' 'lost="3"' 'second="2"' 'zoomed="none"' \
        'replay="1"' 'read="rank 40 failed' 'closer="50"' 'moved="true"'; do
        echo "$root" | grep -qF "data-$want" || fail "$width pixels wide: no $want in $root"
    done
done
done_testing
