import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryConfig } from '../test/arbitrary-config.ts'
import {
  formatPort,
  formatPortRange,
  formatUlimit,
  formatVolume,
  parseExtraHost,
  parsePort,
  parsePortRange,
  parseRestartPolicy,
  parseUlimit,
  parseVolume,
} from './string-parsers.ts'

describe('shorthands', () => {
  it('are the same text after parsing and rendering', () => {
    fc.assert(
      fc.property(arbitraryConfig(), ({ ports, portRanges, volumes, ulimits }) => {
        for (const { proxyProtocol: _, ...row } of ports)
          expect(parsePort(formatPort(row))).toEqual({
            external: null,
            ...row,
            ...(row.protocol === 'tcp' && { protocol: undefined }),
          })
        for (const row of portRanges) expect(parsePortRange(formatPortRange(row))).toEqual(row)
        for (const { size: _, ...row } of volumes) expect(parseVolume(formatVolume(row))).toEqual(row)
        for (const { soft, hard } of ulimits ?? [])
          expect(parseUlimit(formatUlimit({ soft, hard }))).toEqual({ soft, hard })
      }),
      { numRuns: 50 },
    )
  })

  it.each([
    ['80', { internal: 80, external: null }],
    ['8080:80', { internal: 80, external: 8080 }],
    ['127.0.0.1:8080:80/udp', { internal: 80, external: 8080, protocol: 'udp', bindAddress: '127.0.0.1' }],
    ['[::1]:8080:80/TCP', { internal: 80, external: 8080, protocol: 'tcp', bindAddress: '::1' }],
    ['127.0.0.1::80', undefined],
    ['8080:80:1', undefined],
    ['0:80', undefined],
    ['65536', undefined],
    ['80/sctp', undefined],
  ])('are parsed as a port or refused: %s', (text, row) => {
    expect(parsePort(text)).toEqual(row)
  })

  it.each([
    ['8000-8010', { internal: { from: 8000, to: 8010 }, external: { from: 8000, to: 8010 } }],
    ['1-2:3-4/tcp', { internal: { from: 3, to: 4 }, external: { from: 1, to: 2 } }],
    ['1-2:3-5', undefined],
    ['2-1', undefined],
    ['1-2:3-4:5-6', undefined],
  ])('are parsed as a range or refused: %s', (text, row) => {
    expect(parsePortRange(text)).toEqual(row)
  })

  it.each([
    ['/var/lib/data', { name: 'data', path: '/var/lib/data', type: 'rwo' }],
    ['data:/data', { name: 'data', path: '/data', type: 'rwo' }],
    ['data:/data:ro', { name: 'data', path: '/data', type: 'ro' }],
    ['data:/data:cached', { name: 'data', path: '/data', type: 'rwo' }],
    ['data:/data:rw', { name: 'data', path: '/data', type: 'rwx' }],
    ['data', undefined],
    ['data:relative', undefined],
    ['-x:/data', undefined],
    ['a:/b:c:d', undefined],
  ])('are parsed as a volume or refused: %s', (text, row) => {
    expect(parseVolume(text)).toEqual(row)
  })

  it.each([
    ['unless-stopped', 'unlessStopped'],
    ['on-failure:3', 'onFailure'],
    ['"no"', 'no'],
    ['ALWAYS', 'always'],
    ['never', undefined],
  ])('are parsed as a restart policy or refused: %s', (text, policy) => {
    expect(parseRestartPolicy(text)).toBe(policy)
  })

  it('are parsed as ulimits and extra hosts, and other texts are refused', () => {
    expect(['5', '1:2', '-1', '1:-1', 'x', '1:2:3'].map(parseUlimit)).toEqual([
      { soft: 5, hard: 5 },
      { soft: 1, hard: 2 },
      { soft: -1, hard: -1 },
      { soft: 1, hard: -1 },
      undefined,
      undefined,
    ])
    expect(parseExtraHost('six:[fd00::1]')).toEqual({ key: 'six', value: 'fd00::1' })
    expect(parseExtraHost('db')).toBeUndefined()
  })
})
