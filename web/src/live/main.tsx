// SPDX-License-Identifier: Apache-2.0
// The dashboard of the live service.
import {render} from 'preact';
import {Shell} from './shell';
import './live.css';

render(<Shell />, document.getElementById('page') as HTMLElement);
