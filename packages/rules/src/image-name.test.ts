import { describe, expect, it } from 'vitest'
import { parseImageName } from './image-name.ts'

const digest = `sha256:${'0a'.repeat(32)}`

describe('the name of an image', () => {
  it.each([
    ['nginx', 'nginx', null],
    ['nginx:1.27', 'nginx', '1.27'],
    ['group/app_a.b--c:v1_x', 'group/app_a.b--c', 'v1_x'],
    [`app@${digest}`, 'app', digest],
    [`app:1.2@${digest}`, 'app', `1.2@${digest}`],
  ])('parses %j as %j with the tag %j', (text, name, tag) => {
    expect(parseImageName(text, { mayNameRegistry: false })).toEqual({ ok: true, image: { name, tag } })
  })

  it.each([
    ['localhost:5000/app', 'localhost:5000/app', null],
    ['localhost:5000/app:1', 'localhost:5000/app', '1'],
    [`localhost:5000/app@${digest}`, 'localhost:5000/app', digest],
    ['registry.example.com/a/b:2', 'registry.example.com/a/b', '2'],
  ])('accepts a registry in %j where no registry is configured', (text, name, tag) => {
    expect(parseImageName(text, { mayNameRegistry: true })).toEqual({ ok: true, image: { name, tag } })
  })

  it.each([
    '',
    ':tag',
    'App',
    'a b',
    '-a',
    'a:',
    'a:b:c',
    'a@sha256:0',
    `a@${digest.toUpperCase()}`,
    `a@${digest}@${digest}`,
    `@${digest}`,
    'localhost:5000/a',
    '../a',
    'a//b',
    `a:${'x'.repeat(129)}`,
    // The engine would read it as the id of an existing image.
    `sha256:${'a'.repeat(64)}`,
    'sha512:ab',
  ])('refuses %j', (text) => expect(parseImageName(text, { mayNameRegistry: false })).toMatchObject({ ok: false }))
})
