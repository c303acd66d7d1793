import { expect, test } from 'vitest'
import { freeBlocks, parseBlock, parseRoutes } from './network-addresses.ts'

const take = (count: number, blocks: Generator<string>) => Array.from({ length: count }, () => blocks.next().value)

test('freeBlocks offers the first blocks of the reserve that are unused', () => {
  const taken = ['10.201.0.0/24', '10.201.2.0/23', '172.17.0.0/16'].flatMap((cidr) => parseBlock(cidr) ?? [])
  expect(take(2, freeBlocks(taken))).toEqual(['10.201.1.0/24', '10.201.4.0/24'])
})

test('freeBlocks avoids a route that covers a part of the reserve', () => {
  expect(
    take(
      1,
      freeBlocks([{ first: parseBlock('10.201.0.0/16')?.first ?? 0, last: parseBlock('10.201.0.0/16')?.last ?? 0 }]),
    ),
  ).toEqual(['10.202.0.0/24'])
})

test('freeBlocks offers nothing when a private network covers the whole reserve', () => {
  expect([...freeBlocks([parseBlock('10.0.0.0/8') ?? { first: 0, last: 0 }])]).toEqual([])
})

test('parseRoutes reads the routes of the host without the default route', () => {
  const table =
    'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\neth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\ndocker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\n'
  expect(parseRoutes(table)).toEqual([parseBlock('172.17.0.0/16')])
})

test('parseBlock converts an address inside a block to the block and ignores IPv6', () => {
  expect(parseBlock('192.168.5.9/24')).toEqual(parseBlock('192.168.5.0/24'))
  expect(parseBlock('fd00::/64')).toBeUndefined()
})
