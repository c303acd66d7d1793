import { describe, expect, it } from 'vitest'
import { isTrustedRealm, parseRegistryUrl, registryUrlText } from './registry-url.ts'

describe('the address of a registry', () => {
  it.each([
    ['registry.example.com', 'registry.example.com', false],
    ['https://registry.example.com/', 'registry.example.com', false],
    ['https://registry.example.com:5000/v2/', 'registry.example.com:5000', false],
    ['http://registry.example.com:5000', 'http://registry.example.com:5000', false],
    [' localhost:5000 ', 'localhost:5000', true],
    ['127.0.0.1:5000', '127.0.0.1:5000', true],
    ['[::1]:5000', '[::1]:5000', true],
  ])('reads %j as %j', (text, kept, isLoopback) => {
    const result = parseRegistryUrl(text)
    expect(result.ok && [registryUrlText(result.address), result.address.isLoopback]).toEqual([kept, isLoopback])
  })

  it.each(['', '-x', 'ftp://a', 'a b', 'https://u:p@host', 'host/path', 'host?x=1', 'https://'])(
    'refuses %j',
    (text) => {
      expect(parseRegistryUrl(text)).toMatchObject({ ok: false, problem: expect.any(String) })
    },
  )
})

describe('the realm of a registry', () => {
  it.each([
    ['registry.example.com', 'registry.example.com', true],
    ['registry.example.com', 'auth.example.com', true],
    ['registry.gitlab.com', 'gitlab.com', true],
    ['registry-1.docker.io', 'auth.docker.io', true],
    ['localhost', '127.0.0.1', true],
    ['registry.example.com', 'example.com.evil.net', false],
    ['registry.example.com', 'evilexample.com', false],
    ['a.co.uk', 'b.co.uk', false],
    ['10.0.0.1', '10.0.0.2', false],
    ['registry.example.com', '169.254.169.254', false],
  ])('with the host %s may get credentials at %s: %s', (registry, realm, trusted) => {
    expect(isTrustedRealm(registry, realm)).toBe(trusted)
  })
})
