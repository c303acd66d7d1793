import { connect } from 'node:net'
import {
  createDeployment,
  createService,
  engine,
  freePort,
  loadImage,
  raw,
  removeContainers,
  unique,
  waitFor,
  web,
} from '@crux/test-kit'
import { nodeRuntimeFiles } from '../../apps/agent/scripts/build-image.ts'
import { interleave, median, type Report, timed } from './measure.ts'
import { deploy, type TestSystem } from './test-system.ts'

/** Answers a number with that many bytes, and 0 with a word, then ends. It uses Node, so that the service is as fast as the gate. */
const serverScript = `
import { createServer } from 'node:net'
const chunk = Buffer.alloc(262144)
createServer({ noDelay: true }, (client) => {
  client.on('error', () => undefined)
  client.once('data', (data) => {
    let left = Number(data)
    if (left === 0) return client.end('ok')
    const more = () => {
      while (left > 0) {
        left -= chunk.length
        if (!client.write(chunk)) return client.once('drain', more)
      }
      client.end()
    }
    more()
  })
}).listen(8080)
process.on('SIGTERM', () => process.exit(0))
`
const bulkBytes = 400_000_000
const connections = 2_000
const atOnce = 16

type GateAddress = { host: string; port: number }

/** The gate compared with the engine's userland proxy and with the direct path to a container of the same service. */
export async function gateSpeed(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const { testEnvironment, registry } = testSystem
  const image = { ...web('unused'), files: { '/server.mjs': serverScript } }
  await registry.push('bench/gated', '1', image)
  // Node and its libraries of this machine, file by file: an image with them would take longer than the measurement.
  const files = (await nodeRuntimeFiles()).map(({ source }) => source)
  const [gatePort, proxyPort] = [await freePort(), await freePort()]
  const service = await createService(testEnvironment, [
    {
      name: 'bench/gated',
      tag: '1',
      config: {
        name: 'web',
        ports: [{ internal: 8080, external: gatePort }],
        portGate: { enabled: true },
        volumes: files.map((path) => ({ name: path, path, type: 'ro' })),
        commands: [{ key: process.execPath }],
        args: [{ key: '/server.mjs' }],
      },
    },
  ])
  const prefix = unique('g')
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await deploy(testEnvironment, deployment.id)

  const reference = `${unique('bench-gate')}:1`
  await loadImage(reference, image)
  const id = await raw.create(unique('rawgate'), {
    Image: reference,
    Cmd: [process.execPath, '/server.mjs'],
    HostConfig: {
      Binds: files.map((path) => `${path}:${path}:ro`),
      PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: String(proxyPort) }] },
    },
  })
  try {
    await raw.start(id)
    const info = await engine<{ NetworkSettings: { IPAddress: string } }>('GET', `/containers/${id}/json`)
    const ways: Record<'direct' | 'proxy' | 'gate', GateAddress> = {
      direct: { host: info.NetworkSettings.IPAddress, port: 8080 },
      // On loopback the engine rewrites nothing: its proxy process carries every byte.
      proxy: { host: '127.0.0.1', port: proxyPort },
      gate: { host: '127.0.0.1', port: gatePort },
    }
    for (const way of Object.values(ways)) await waitFor('it answers', () => greet(way).then(() => true))
    const compare = (measure: (way: GateAddress) => Promise<number>) =>
      interleave(rounds, {
        direct: () => measure(ways.direct),
        proxy: () => measure(ways.proxy),
        gate: () => measure(ways.gate),
      })
    const bulk = await compare(async (way) => bulkBytes / 1e6 / ((await timed(() => read(way))) / 1_000))
    const fresh = await compare(async (way) => connections / ((await timed(() => greetMany(way))) / 1_000))
    const share = (of: typeof bulk) => `${(median(of.gate) / median(of.direct)).toFixed(2)} of the direct path`
    const sides = ({ gate, proxy }: typeof bulk) => ({ ours: gate, theirs: proxy })
    report.ratio('gate, bulk: MB/s / userland proxy', sides(bulk), '>= 0.6', 'MB/s', share(bulk))
    report.ratio('gate, new connections / userland proxy', sides(fresh), '>= 0.8', '/s', share(fresh))
  } finally {
    await raw.remove(id)
    await removeContainers(`dev.crux.prefix=${prefix}`)
  }
}

function read({ host, port }: GateAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    let got = 0
    const onread = {
      buffer: Buffer.alloc(262_144),
      callback: (bytes: number) => {
        got += bytes
        return true
      },
    }
    const socket = connect({ host, port, onread }, () => socket.write(String(bulkBytes)))
    socket.on('error', reject)
    socket.on('end', () => (got >= bulkBytes ? resolve() : reject(new Error(`only ${got} bytes came`))))
  })
}

function greet({ host, port }: GateAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    let answered = false
    const socket = connect({ host, port, noDelay: true }, () => socket.write('0'))
    socket.on('data', () => {
      answered = true
    })
    socket.on('error', reject)
    socket.on('end', () => (answered ? resolve() : reject(new Error('it ended without an answer'))))
  })
}

async function greetMany(way: GateAddress): Promise<void> {
  let left = connections
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await greet(way)
    }),
  )
}
