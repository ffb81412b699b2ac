// SPDX-License-Identifier: Apache-2.0
// The GPUs of a node as pieces of a map.
import type {Gpu} from './service';

/** GPUs beside each other that the same jobs hold. */
export interface Piece {
  gpus: Gpu[];
}

/** Rows of at most `across` GPUs, cut into pieces. */
export function pieces(gpus: Gpu[], across: number): Piece[][] {
  const rows: Piece[][] = [];
  gpus.forEach((gpu, n) => {
    if (n % across === 0) rows.push([]);
    const row = rows[rows.length - 1] as Piece[];
    const before = row[row.length - 1]?.gpus;
    const joins = before && gpu.jobs.length > 0 && gpu.in_service && before[0]?.in_service && before[0].jobs.join() === gpu.jobs.join();
    if (joins) before.push(gpu); else row.push({gpus: [gpu]});
  });
  return rows;
}
