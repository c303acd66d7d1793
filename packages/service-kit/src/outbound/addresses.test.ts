import { describe, expect, test } from 'vitest'
import { judgeAddress, makeAllowList } from './addresses.ts'

describe('judgeAddress', () => {
  test.each([
    ['8.8.8.8', 'public'],
    ['172.32.0.1', 'public'],
    ['2606:4700::1111', 'public'],
    ['127.0.0.1', 'private'],
    ['127.255.255.254', 'private'],
    ['10.1.2.3', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['100.64.0.1', 'private'],
    ['::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['169.254.169.254', 'never'],
    ['100.100.100.200', 'never'],
    ['0.0.0.0', 'never'],
    ['255.255.255.255', 'never'],
    ['224.0.0.1', 'never'],
    ['::', 'never'],
    ['fe80::1', 'never'],
    ['fe80::1%eth0', 'never'],
    ['fd00:ec2::254', 'never'],
    ['ff02::1', 'never'],
    ['not an address', 'never'],
  ])('classifies %s as %s', (address, verdict) => {
    expect(judgeAddress(address)).toBe(verdict)
  })

  test.each([
    ['::ffff:169.254.169.254', 'never'],
    ['::ffff:a9fe:a9fe', 'never'],
    ['::ffff:127.0.0.1', 'private'],
    ['::ffff:8.8.8.8', 'public'],
    ['::127.0.0.1', 'private'],
    ['::ffff:0:169.254.169.254', 'never'],
    ['64:ff9b::169.254.169.254', 'never'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::8.8.8.8', 'public'],
    ['2002:a9fe:a9fe::1', 'never'],
    ['2002:7f00:1::', 'private'],
    ['2001:0:53aa:64c:0:0:0:1', 'never'],
    ['2a00::5efe:169.254.169.254', 'never'],
    ['2a00::200:5efe:10.0.0.1', 'private'],
  ])('detects the IPv4 address in the IPv6 form %s: %s', (address, verdict) => {
    expect(judgeAddress(address)).toBe(verdict)
  })
})

describe('makeAllowList', () => {
  test('allows single addresses and ranges, also in their mapped form', () => {
    const allows = makeAllowList(['10.0.0.0/8', '192.168.1.5', 'fd00::/8'])
    expect(['10.9.9.9', '192.168.1.5', 'fd12::1', '::ffff:10.0.0.1'].filter(allows)).toHaveLength(4)
    expect(['192.168.1.6', '11.0.0.1', 'fc00::1', '127.0.0.1'].filter(allows)).toEqual([])
  })

  test.each(['10.0.0.0/33', 'localhost', '10.0.0.0/', 'fd00::/129', ''])('refuses %j as a range', (entry) => {
    expect(() => makeAllowList([entry])).toThrow(/not an address range/)
  })
})
