// SPDX-License-Identifier: Apache-2.0
// Asks the service that the page came from, with the token that was typed in.
import {dropToken, token} from './token';

/** What the service would not do, in its words. */
export class Refusal extends Error {
  constructor(readonly status: number, message: string, readonly hint: string) {
    super(message);
  }
}

function headers(): Record<string, string> {
  const shown = token();
  return shown === '' ? {} : {Authorization: `Bearer ${shown}`};
}

async function refusal(answer: Response): Promise<Refusal> {
  if (answer.status === 401) dropToken();
  try {
    const {error} = await answer.json() as {error: {message: string; hint?: string}};
    return new Refusal(answer.status, error.message, error.hint ?? '');
  } catch {
    return new Refusal(answer.status, `the service answered ${answer.status}`, '');
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(path, {...init, cache: 'no-store', credentials: 'omit', redirect: 'error'});
  if (answer.ok || answer.status === 304) return answer;
  throw await refusal(answer);
}

/** The JSON at `path`; undefined where there is nothing new (304) or nothing at all (204). */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T | undefined> {
  const answer = await send(path, signal ? {signal, headers: headers()} : {headers: headers()});
  return answer.status === 200 ? await answer.json() as T : undefined;
}

export async function change(method: 'POST' | 'PUT', path: string, body?: object): Promise<void> {
  await send(path, {
    method,
    headers: {...headers(), 'Content-Type': 'application/json'},
    body: JSON.stringify(body ?? {}),
  });
}

export interface Piece {
  bytes: Uint8Array;
  /** Where to go on. */
  next: number;
  size: number;
}

/** A piece of a log; a negative offset counts from its end. */
export async function logPiece(job: string, stream: 'out' | 'err', offset: number, limit: number, signal: AbortSignal): Promise<Piece> {
  const query = new URLSearchParams({stream, offset: String(offset), limit: String(limit)});
  const answer = await send(`/v1/jobs/${encodeURIComponent(job)}/log?${query}`, {headers: headers(), signal});
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const next = Number(answer.headers.get('X-Next-Offset') ?? Math.max(0, offset) + bytes.length);
  return {bytes, next, size: Number(answer.headers.get('X-Log-Size') ?? next)};
}

export function words(error: unknown): string {
  if (error instanceof Refusal) return error.hint ? `${error.message}: ${error.hint}` : error.message;
  return 'the service does not answer';
}
