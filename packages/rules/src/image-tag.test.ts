import { patterns } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { imageText, parseImageTag, shortImageTag } from './image-tag.ts'

const digest = `sha256:${'0a'.repeat(32)}`

describe('the tag of an image', () => {
  it.each([
    ['1.2', '1.2', null],
    [digest, null, digest],
    [`1.2@${digest}`, '1.2', digest],
    [`sha256@${digest}`, 'sha256', digest],
    ['', null, null],
    [null, null, null],
  ])('%j has the tag %j and the digest %j', (text, tag, expected) => {
    expect(parseImageTag(text)).toEqual({ tag, digest: expected })
  })

  it.each(['1.2', digest, `1.2@${digest}`])('may be %j', (text) => expect(patterns.tagOrDigest.test(text)).toBe(true))

  it.each([
    '',
    '@',
    `@${digest}`,
    `${digest}@1`,
    'sha256:0a',
    `1@sha512:${'0'.repeat(64)}`,
    `1@${digest}\n`,
    '-1',
    '1:2',
  ])('may not be %j', (text) => expect(patterns.tagOrDigest.test(text)).toBe(false))

  it('is shown with the first digits of its digest', () => {
    expect(shortImageTag(`1.2@${digest}`)).toBe('1.2@sha256:0a0a0a0a0a0a')
    expect(imageText({ name: 'app', tag: digest })).toBe('app@sha256:0a0a0a0a0a0a')
    expect(imageText({ name: 'app', tag: '1.2' })).toBe('app:1.2')
    expect(imageText({ name: 'app', tag: null })).toBe('app:-')
  })
})
