import { expect, it } from 'vitest'
import { clientNetwork } from './client-network.ts'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['2001:db8:1:2::1', '20010db800010002::/64'],
  ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '20010db800010002::/64'],
  ['2001:db8:1:3::1', '20010db800010003::/64'],
  ['fe80::1%eth0', 'fe80000000000000::/64'],
  ['::1', '0000000000000000::/64'],
  ['', ''],
  ['unknown', 'unknown'],
])('clientNetwork counts %j as %j', (address, network) => {
  expect(clientNetwork(address)).toBe(network)
})
