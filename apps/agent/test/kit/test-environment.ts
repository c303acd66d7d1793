import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Release } from '@crux/agent-protocol'
import { type ImageSpec, type Registry, startRegistry } from '@crux/test-kit'
import type Docker from 'dockerode'
import { createMessage, encrypt, readKey } from 'openpgp'
import { startTestAgent, type TestAgent } from './agents.ts'
import { FakeServer } from './fake-server.ts'
import { stopGate } from './gate.ts'
import { openEngine, pullImage, removeImages } from './images.ts'
import { makeRelease, type ReleaseInput } from './releases.ts'
import { waitForAnswer } from './wait-for-answer.ts'

/** An engine, a registry, a server and a connected agent, with names that no other test uses. */
export interface TestEnvironment {
  docker: Docker
  registry: Registry
  server: FakeServer
  agent: TestAgent
  dataDir: string
  owner: { teamId: string; projectId: string; nodeId: string; prefix: string }
  /** Pushes an image that no other test has, and fetches it. `name` is "web:1"; the registry is added. */
  publish(name: string, image: ImageSpec): Promise<{ reference: string; digest: string }>
  /** Removes an image from the engine's own store. */
  forget(name: string): Promise<void>
  release(input: Omit<ReleaseInput, 'owner'> & { owner?: ReleaseInput['owner'] }): Release
  /** Full name of a container under the prefix. */
  name(short: string): string
  inspect(short: string): Promise<Docker.ContainerInspectInfo>
  /** Names of the containers under the prefix, running or not. */
  names(): Promise<string[]>
  /** The answer of the container's web server, as soon as it has one. */
  answer(short: string): Promise<string>
  /** Runs a command in a container and returns its output. */
  exec(short: string, command: string[]): Promise<string>
  /** A secret's value as a browser encrypts it, for the agent's key. */
  seal(text: string): Promise<string>
  /** Restarts the agent with the same data directory. */
  restartAgent(): Promise<void>
  /** Removes the containers and networks under the prefix. */
  clear(): Promise<void>
  dispose(): Promise<void>
}

export async function startTestEnvironment(): Promise<TestEnvironment> {
  const docker = openEngine()
  const nodeId = randomUUID()
  const owner = { teamId: randomUUID(), projectId: randomUUID(), nodeId, prefix: `t${randomUUID().slice(0, 8)}` }
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-agent-'))
  const server = new FakeServer()
  await server.start()
  server.scope = { teamId: owner.teamId, nodeId }
  const registry = await startRegistry()
  let agent = await startTestAgent(server, { dataDir, token: server.newInstallToken(), nodeId })
  await server.waitForLink()

  const name = (short: string) => `${owner.prefix}-${short}`
  const inspect = (short: string) => docker.getContainer(name(short)).inspect()
  const listed = () => docker.listContainers({ all: true, filters: { name: [`^/${owner.prefix}-`] } })

  async function exec(short: string, command: string[]): Promise<string> {
    const created = await docker
      .getContainer(name(short))
      .exec({ Cmd: command, AttachStdout: true, AttachStderr: true, Tty: true })
    const stream = await created.start({ Tty: true })
    let output = ''
    for await (const chunk of stream) output += String(chunk)
    return output.replaceAll('\r', '')
  }

  async function clear(): Promise<void> {
    await Promise.all(
      (await listed()).map(({ Id }) =>
        docker
          .getContainer(Id)
          .remove({ force: true, v: true })
          .catch(() => undefined),
      ),
    )
    for (const network of await docker.listNetworks()) {
      const ofPrefix = network.Name.startsWith('crux-') && network.Name.includes(`-${owner.prefix}`)
      if (ofPrefix || network.Labels?.['dev.crux.node'] === nodeId)
        await docker
          .getNetwork(network.Id)
          .remove()
          .catch(() => undefined)
    }
  }

  return {
    docker,
    registry,
    server,
    get agent() {
      return agent
    },
    dataDir,
    owner,
    async publish(imageName, image) {
      const [repository = '', tag = ''] = imageName.split(':')
      const digest = await registry.push(repository, tag, { created: new Date().toISOString(), ...image })
      const reference = `${registry.host}/${imageName}`
      await pullImage(docker, reference)
      return { reference, digest }
    },
    async forget(imageName) {
      const info = await docker.getImage(`${registry.host}/${imageName}`).inspect()
      await docker.getImage(info.Id).remove({ force: true })
    },
    release: (input) => makeRelease({ owner, ...input }),
    name,
    inspect,
    async names() {
      return (await listed()).flatMap(({ Names }) => Names.map((full) => full.replace(/^\//, ''))).sort()
    },
    async answer(short) {
      const info = await inspect(short)
      const address = Object.values(info.NetworkSettings.Networks).find(({ IPAddress }) => IPAddress)?.IPAddress
      return waitForAnswer(`http://${address}:8080/`)
    },
    exec,
    async seal(text) {
      const encryptionKeys = await readKey({ armoredKey: server.links.at(-1)?.publicKey ?? '' })
      return String(await encrypt({ message: await createMessage({ text }), encryptionKeys }))
    },
    async restartAgent() {
      await agent.stop()
      agent = await startTestAgent(server, { dataDir, nodeId })
      await server.waitForLink()
    },
    clear,
    async dispose() {
      await agent.stop()
      await stopGate(dataDir)
      await server.stop()
      await clear()
      await removeImages(docker, registry.host)
      await registry.remove()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
