import { describe, expect, it } from 'vitest'
import { splitReason } from './split-reason.ts'

describe('splitReason', () => {
  it('separates the original message of a registry from the sentence', () => {
    expect(splitReason('The registry has no image r:5000/app:2 (manifest unknown: manifest unknown)')).toEqual({
      text: 'The registry has no image r:5000/app:2.',
      details: 'manifest unknown: manifest unknown',
    })
    expect(
      splitReason('Port 80 is taken on the node: choose another port (Docker: Bind for 0.0.0.0:80 failed)'),
    ).toEqual({
      text: 'Port 80 is taken on the node: choose another port.',
      details: 'Bind for 0.0.0.0:80 failed',
    })
  })

  it('keeps parentheses in messages of an engine, and messages of several sentences', () => {
    expect(
      splitReason(
        'The name web is taken (Docker: "web" is in use. You have to remove (or rename) it.); web was not restored (Docker: gone). Release 2 keeps answering.',
      ),
    ).toEqual({
      text: 'The name web is taken; web was not restored. Release 2 keeps answering.',
      details: '"web" is in use. You have to remove (or rename) it.\ngone',
    })
  })

  it('keeps the sentences that follow', () => {
    expect(
      splitReason('The registry has no image r/app:2 (manifest unknown: manifest unknown). Release 2 keeps answering.'),
    ).toEqual({
      text: 'The registry has no image r/app:2. Release 2 keeps answering.',
      details: 'manifest unknown: manifest unknown',
    })
    expect(
      splitReason('The registry of r/app:2 does not answer (Docker: connect: refused). Release 2 keeps answering'),
    ).toEqual({
      text: 'The registry of r/app:2 does not answer. Release 2 keeps answering.',
      details: 'connect: refused',
    })
  })

  it('replaces known error codes with text', () => {
    expect(splitReason('127.0.0.1:15998 cannot be reached (ECONNREFUSED).')).toEqual({
      text: '127.0.0.1:15998 cannot be reached (connection refused).',
      details: null,
    })
  })

  it('does not change sentences that end with parentheses of their own', () => {
    for (const reason of ['cancelled by Ada', 'web did not answer (2 of 3)'])
      expect(splitReason(reason)).toEqual({ text: reason, details: null })
  })
})
