import { describe, expect, it } from '@jest/globals';
import { readCommand } from './command.js';

describe('core/command', () => {
  it.each<[string, ReturnType<typeof readCommand>]>([
    ['/merge', { name: 'merge', args: [], text: '' }],
    [
      '/Label kind/bug  needs/triage',
      { name: 'label', args: ['kind/bug', 'needs/triage'], text: 'kind/bug  needs/triage' },
    ],
    [
      '/label "good first issue" x\r\nthanks',
      { name: 'label', args: ['good first issue', 'x'], text: '"good first issue" x' },
    ],
    ['/label\u00A0bug', { name: 'label', args: ['bug'], text: 'bug' }],
    ['/label\u3000bug\u2009docs\u00A0', { name: 'label', args: ['bug', 'docs'], text: 'bug\u2009docs' }],
    [
      '/label\u202F"two\u00A0words"\u2003x',
      { name: 'label', args: ['two\u00A0words', 'x'], text: '"two\u00A0words"\u2003x' },
    ],
    ['/milestone 1.5', { name: 'milestone', args: ['1.5'], text: '1.5' }],
    ['', null],
    ['/', null],
    ['/ label x', null],
    [' /label x', null],
    ['please /merge', null],
    ['thanks\n/merge', null],
    ['> /merge', null],
    ['    /merge', null],
    ['```\n/merge\n```', null],
    ['<!-- -->/merge', null],
    ['//merge', null],
    ['/usr/bin/env', null],
    ['/1up', null],
    ['\u202e/merge', null],
    ['/merge\u202e', null],
    [`/label ${'x '.repeat(30)}`, null],
    [`/label ${'x'.repeat(2000)}`, null],
  ])('%j is %j', (body, command) => {
    expect(readCommand(body)).toEqual(command);
  });
});
