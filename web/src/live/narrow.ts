// SPDX-License-Identifier: Apache-2.0
// Whether there is room for a table; live.css has the same width.
import {useEffect, useState} from 'preact/hooks';

const narrow = window.matchMedia('(max-width: 46rem)');

export function useIsNarrow(): boolean {
  const [is, setIs] = useState(narrow.matches);
  useEffect(() => {
    const follow = () => setIs(narrow.matches);
    narrow.addEventListener('change', follow);
    return () => narrow.removeEventListener('change', follow);
  }, []);
  return is;
}
