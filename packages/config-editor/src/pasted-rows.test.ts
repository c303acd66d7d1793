import { expect, it } from 'vitest'
import { parsePastedPorts, parsePastedVolumes } from './pasted-rows.ts'

it('parsePastedPorts parses ports of a Compose file, including ranges', () => {
  expect(parsePastedPorts('- "8080:80"\n- 127.0.0.1:53:53/udp\n- "9000-9010:8000-8010"')).toEqual({
    ports: [
      { internal: 80, external: 8080 },
      { internal: 53, external: 53, protocol: 'udp', bindAddress: '127.0.0.1' },
    ],
    ranges: [{ internal: { from: 8000, to: 8010 }, external: { from: 9000, to: 9010 } }],
  })
})

it('parsePastedPorts leaves a single number and texts that are not ports to the input', () => {
  expect(parsePastedPorts('8080')).toBeUndefined()
  expect(parsePastedPorts('8080:80 and more')).toBeUndefined()
})

it('parsePastedVolumes parses volumes, and leaves a single name to the input', () => {
  expect(parsePastedVolumes('- data:/var/lib/data:ro\n- cache:/cache')).toEqual([
    { name: 'data', path: '/var/lib/data', type: 'ro' },
    { name: 'cache', path: '/cache', type: 'rwo' },
  ])
  expect(parsePastedVolumes('data')).toBeUndefined()
})
