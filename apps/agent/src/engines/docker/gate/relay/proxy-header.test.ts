import { describe, expect, test } from 'vitest'
import { proxyHeader } from './proxy-header.ts'

const ends = (source: string | undefined, destination: string | undefined) => ({
  sourceAddress: source,
  sourcePort: 56_324,
  destinationAddress: destination,
  destinationPort: 443,
})

describe('the PROXY header', () => {
  test.each([
    ['192.0.2.1', '198.51.100.7', 'PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n'],
    ['::ffff:192.0.2.1', '::ffff:198.51.100.7', 'PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n'],
    ['2001:db8::1', 'fe80::2%eth0', 'PROXY TCP6 2001:db8::1 fe80::2 56324 443\r\n'],
    [undefined, undefined, 'PROXY UNKNOWN\r\n'],
    ['192.0.2.1', '2001:db8::1', 'PROXY UNKNOWN\r\n'],
  ])('encodes version 1 from %s to %s', (source, destination, expected) => {
    expect(proxyHeader('v1', ends(source, destination)).toString()).toBe(expected)
  })

  const signature = '0d0a0d0a000d0a515549540a'
  test.each([
    ['192.0.2.1', '198.51.100.7', '2111000cc0000201c6336407dc0401bb'],
    ['2001:db8::1:2', '::1', '2121002420010db800000000000000000001000200000000000000000000000000000001dc0401bb'],
    [undefined, '192.0.2.1', '20000000'],
  ])('encodes version 2 from %s to %s', (source, destination, expected) => {
    expect(proxyHeader('v2', ends(source, destination)).toString('hex')).toBe(signature + expected)
  })
})
