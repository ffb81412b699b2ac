// SPDX-License-Identifier: Apache-2.0
// What a terminal would show of a log: progress bars that write over themselves, and no codes.

const kCodes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

export function settled(text: string): string {
  return text.replace(kCodes, '').replace(/\r+\n/g, '\n').split('\n').map((line) => {
    const last = line.replace(/\r+$/, '');
    return last.slice(last.lastIndexOf('\r') + 1);
  }).join('\n').replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd');
}
