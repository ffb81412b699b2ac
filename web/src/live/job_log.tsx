// SPDX-License-Identifier: Apache-2.0
// What a job has written, from near its end on, followed while it runs.
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {plain} from '../format';
import {logPiece, Refusal, words} from './ask';
import {settled} from './log_text';
import type {Job} from './service';
import {useToken} from './token';
import {isOver} from './words';

const kTail = 64 * 1024;    // bytes that are fetched first
const kMost = 512 * 1024;   // letters that are kept
const kEvery = 1500;        // milliseconds

export function LogView({job}: {job: Job}) {
  const has = useToken();
  const [stream, setStream] = useState<'out' | 'err'>('out');
  const [follow, setFollow] = useState(true);
  const [text, setText] = useState('');
  const [about, setAbout] = useState({error: '', cut: 0});
  const box = useRef<HTMLPreElement>(null);
  const over = isOver(job);
  const began = job.start_s !== undefined;

  useEffect(() => {
    if (!has || !began) return;
    const abort = new AbortController();
    const decoder = new TextDecoder();
    let timer = 0;
    let next = -kTail;
    setText('');
    const look = async () => {
      let more = false;
      try {
        if (!document.hidden || next < 0) {
          const asked = next;
          const piece = await logPiece(job.job_id, stream, asked, kTail, abort.signal);
          // A log that became shorter was begun anew.
          next = piece.size < piece.next || asked > piece.size ? 0 : piece.next;
          more = piece.bytes.length > 0 && piece.next < piece.size;
          setAbout((before) => ({error: '', cut: asked < 0 ? piece.next - piece.bytes.length : before.cut}));
          const added = decoder.decode(piece.bytes, {stream: true});
          if (added !== '') setText((before) => (before + added).slice(-kMost));
        }
      } catch (error) {
        if (abort.signal.aborted) return;
        setAbout((before) => ({...before, error: words(error)}));
        if (error instanceof Refusal) return;
      }
      if (more || !over) timer = window.setTimeout(() => void look(), more ? 0 : kEvery);
    };
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [job.job_id, stream, has, began, over]);

  useLayoutEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text, follow]);
  return (
    <section class="log" aria-labelledby="log-title">
      <div class="log-head">
        <h2 id="log-title">Log</h2>
        {has && began && (
          <>
            <div class="chips" role="group" aria-label="Stream">
              {(['out', 'err'] as const).map((name) => <button key={name} type="button" aria-pressed={stream === name} onClick={() => setStream(name)}>{name}</button>)}
            </div>
            <label><input type="checkbox" checked={follow} onChange={(event) => setFollow(event.currentTarget.checked)} /> follow</label>
          </>
        )}
      </div>
      {!began ? <p class="nothing">No log: the job has not started.</p>
        : !has ? <p class="nothing">The log needs a token, because only its owner may read it.</p> : (
          <>
            {about.error && <p class="refused" role="status">{about.error}</p>}
            {about.cut > 0 && <p class="hint">Only the end of the log is shown; for the {plain(about.cut)} bytes before it: <code>almanac logs {job.job_id}</code></p>}
            <pre ref={box} tabIndex={0} role="region" aria-label="Output">{settled(text) || (about.error ? '' : '(nothing yet)')}</pre>
          </>
        )}
    </section>
  );
}
