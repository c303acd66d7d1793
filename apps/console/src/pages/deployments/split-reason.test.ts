import { describe, expect, it } from 'vitest'
import { splitReason } from './split-reason.ts'

describe('splitReason', () => {
  it('splits the words of a registry off the sentence', () => {
    expect(splitReason('The registry has no image r:5000/app:2 (manifest unknown: manifest unknown)')).toEqual({
      text: 'The registry has no image r:5000/app:2.',
      details: 'manifest unknown: manifest unknown',
    })
    expect(
      splitReason('The registry of r/app:2 does not answer: dial tcp 127.0.0.1:1: connect: connection refused'),
    ).toEqual({
      text: 'The registry of r/app:2 does not answer.',
      details: 'dial tcp 127.0.0.1:1: connect: connection refused',
    })
  })

  it('keeps the sentences that follow', () => {
    expect(
      splitReason('The registry has no image r/app:2 (manifest unknown: manifest unknown). Release 2 keeps answering.'),
    ).toEqual({
      text: 'The registry has no image r/app:2. Release 2 keeps answering.',
      details: 'manifest unknown: manifest unknown',
    })
    expect(splitReason('The registry of r/app:2 does not answer: connect: refused. Release 2 keeps answering')).toEqual(
      {
        text: 'The registry of r/app:2 does not answer. Release 2 keeps answering',
        details: 'connect: refused',
      },
    )
  })

  it('says known codes in words', () => {
    expect(splitReason('127.0.0.1:15998 cannot be reached (ECONNREFUSED).')).toEqual({
      text: '127.0.0.1:15998 cannot be reached (connection refused).',
      details: null,
    })
  })

  it('leaves sentences alone that end with parentheses of their own', () => {
    for (const reason of ['cancelled by Ada', 'web did not answer (2 of 3)'])
      expect(splitReason(reason)).toEqual({ text: reason, details: null })
  })
})
