// SPDX-License-Identifier: Apache-2.0
// The numbers that a report leads with.
import type {Tile} from './document';
import {prose} from './format';
import {foldable, Words} from './words';

export function Tiles({tiles}: {tiles: Tile[]}) {
  return (
    <section class="tiles" aria-label="Summary">
      {tiles.map((tile) => (
        <div key={tile.label}>
          <h2>{tile.label}</h2>
          <p class="value">{foldable(prose(tile.value))}</p>
          <p><Words of={tile.detail} /></p>
        </div>
      ))}
    </section>
  );
}
