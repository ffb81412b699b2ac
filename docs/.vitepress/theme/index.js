// SPDX-License-Identifier: Apache-2.0
import theme from 'vitepress/theme';
import './wide.css';

export default theme;
