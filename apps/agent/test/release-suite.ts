import { randomUUID } from 'node:crypto'
import { Operation, Phase, PhaseState, type Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { shell } from './kit/cluster-scripts.ts'
import type { FakeServer } from './kit/fake-server.ts'
import { type InstanceInput, makeRelease, type ReleaseInput } from './kit/releases.ts'
import { waitUntil } from './kit/wait-until.ts'

/** What a kind of node must provide to run the suite. */
export interface ReleaseSubject {
  /** The agent is connected to it. */
  server: FakeServer
  owner: ReleaseInput['owner']
  /** Of an image with a shell, which the engine has. */
  image: Pick<InstanceInput, 'image' | 'localOnly'>
  /** A secret's value as a browser encrypts it, for the agent's key. */
  seal(text: string): Promise<string>
  restartAgent(): Promise<void>
  dispose(): Promise<void>
}

type Instance = Partial<InstanceInput> & { config: { name: string } }

/** Prints the text and an id of the process, and runs until it is stopped. */
const says = (text: string) =>
  shell(`echo ${text} $(cat /proc/sys/kernel/random/uuid); trap 'exit 0' TERM; sleep 100000 & wait`)
const saysVariable = says('$WORD')
const word = (value: string) => ({ ...saysVariable, environment: [{ key: 'WORD', value }] })
/** Long enough for a release to be found in the middle of its verification. */
const longMs = 60_000

/** The guarantees of every engine about releases. */
export function describeReleases(kind: string, open: () => Promise<ReleaseSubject>, missing?: string): void {
  describe.skipIf(missing)(`releases on ${kind}`, () => {
    let subject: ReleaseSubject
    let deploymentId: string
    let instances: Record<string, string>
    let number = 0
    beforeAll(async () => {
      subject = await open()
      deploymentId = randomUUID()
      instances = { web: randomUUID(), worker: randomUUID() }
    })
    beforeEach(async () => {
      await deploySuccessfully([web('first')], { recreate: true })
    })
    afterAll(() => subject?.dispose())

    const web = (text: string, more: object = {}): Instance => ({ config: { name: 'web', ...word(text), ...more } })
    const worker: Instance = { config: { name: 'worker', ...word('work') } }

    function toRelease(given: readonly Instance[], more: Partial<ReleaseInput> = {}): Release {
      number += 1
      return makeRelease({
        deploymentId,
        number,
        owner: subject.owner,
        previous: Object.entries(instances).map(([name, instanceId]) => ({
          containerName: `${subject.owner.prefix}-${name}`,
          instanceId,
        })),
        instances: given.map((one) => ({ instanceId: instances[one.config.name], ...subject.image, ...one })),
        ...more,
      })
    }
    const deploy = (given: readonly Instance[], more?: Partial<ReleaseInput>) =>
      subject.server.deployAndWait(toRelease(given, more))
    const deploySuccessfully = async (given: readonly Instance[], more?: Partial<ReleaseInput>) =>
      expect(await deploy(given, more)).toMatchObject({ successful: true, reason: '' })

    /** Names and states of the containers under the prefix. */
    async function list(): Promise<Record<string, string>> {
      const { prefix } = subject.owner
      const answer = await subject.server.ask({ case: 'listContainers', value: { prefix } })
      if (answer.case !== 'containers') throw new Error(JSON.stringify(answer))
      return Object.fromEntries(answer.value.containers.map(({ engineState, ref }) => [ref?.name ?? '', engineState]))
    }
    const toContainer = (name: string) => ({ prefix: subject.owner.prefix, name })
    async function readLog(name: string): Promise<string[]> {
      const answer = await subject.server.ask({
        case: 'readLog',
        value: { container: toContainer(name), take: 10 },
      })
      if (answer.case !== 'log') throw new Error(JSON.stringify(answer))
      return answer.value.lines.map(({ text }) => text)
    }
    /** The only process of a container, by its text and id, as soon as it has printed them and no other one is left. */
    const getProcess = (name: string, text: string) =>
      waitUntil(`${name} says ${text} alone`, async () => {
        const lines = await readLog(name)
        return lines.length === 1 && lines[0]?.startsWith(`${text} `) ? lines[0] : undefined
      })
    const reached = (release: Release, phase: Phase, state: PhaseState) =>
      waitUntil(`phase ${Phase[phase]}`, () =>
        subject.server
          .listEvents(release.key ?? toNoKey())
          .some(({ event }) => event.case === 'phase' && event.value.phase === phase && event.value.state === state),
      )

    test('keep a container that did not change, and replace it when that is asked for', async () => {
      const before = await getProcess('web', 'first')
      await deploySuccessfully([web('first')])
      expect(await getProcess('web', 'first')).toBe(before)
      await deploySuccessfully([web('first')], { recreate: true })
      await waitUntil('another process runs', async () => (await getProcess('web', 'first')) !== before)
    })

    test('that fail say why, with the last words of the container, and leave the previous one running', async () => {
      const before = await getProcess('web', 'first')
      const release = toRelease([{ config: { name: 'web', ...shell('echo no database; exit 3') } }])
      const outcome = await subject.server.deployAndWait(release)
      expect(outcome).toMatchObject({ successful: false, previousRestored: true, instanceId: instances.web })
      expect(outcome.reason).toContain('exit code 3')
      expect(subject.server.toLines(release, true)).toEqual(['no database'])
      expect(await getProcess('web', 'first')).toBe(before)
    })

    test('that fail in one container leave all of them as they were', async () => {
      await deploySuccessfully([web('first'), worker])
      const before = [await getProcess('web', 'first'), await getProcess('worker', 'work')]
      const outcome = await deploy([web('second'), { config: { name: 'worker', ...shell('exit 3') } }])
      expect(outcome).toMatchObject({ successful: false, previousRestored: true, instanceId: instances.worker })
      await getProcess('web', 'first')
      expect(await getProcess('worker', 'work')).toBe(before[1])
      expect(Object.keys(await list()).sort()).toEqual(['web', 'worker'])
    })

    test('that are cancelled in the middle leave the previous container running', async () => {
      const before = await getProcess('web', 'first')
      const release = toRelease([web('second')], { observationWindowMs: longMs })
      subject.server.deploy(release)
      await reached(release, Phase.VERIFY, PhaseState.RUNNING)
      subject.server.send({ case: 'cancelDeployment', value: { release: release.key } })
      expect(await subject.server.getOutcome(release)).toMatchObject({ cancelled: true, previousRestored: true })
      expect(await getProcess('web', 'first')).toBe(before)
    })

    test('are continued by the next process of the agent', async () => {
      const release = toRelease([web('second')], { observationWindowMs: 4_000 })
      subject.server.deploy(release)
      await reached(release, Phase.VERIFY, PhaseState.RUNNING)
      await subject.restartAgent()
      expect(await subject.server.getOutcome(release)).toMatchObject({ successful: true })
      await getProcess('web', 'second')
    })

    test('bring an earlier configuration back with its secrets', async () => {
      const configured = async (text: string) => ({
        ...web(text),
        config: {
          name: 'web',
          ...says('$WORD$(test "$PASSWORD" = secret-of-$WORD && echo -is-right)'),
          environment: [{ key: 'WORD', value: text }],
          secrets: [
            { key: 'PASSWORD', required: true, encrypted: true, value: await subject.seal(`secret-of-${text}`) },
          ],
        },
      })
      const [one, two] = [await configured('one'), await configured('two')]
      await deploySuccessfully([one])
      await getProcess('web', 'one-is-right')
      await deploySuccessfully([two])
      await getProcess('web', 'two-is-right')
      await deploySuccessfully([one])
      await getProcess('web', 'one-is-right')
    })

    test('of a part of a version leave the rest alone, and whole ones remove what they no longer have', async () => {
      await deploySuccessfully([web('first'), worker])
      const before = await getProcess('worker', 'work')
      await deploySuccessfully([web('second')], { partial: true })
      await getProcess('web', 'second')
      expect(await getProcess('worker', 'work')).toBe(before)
      await deploySuccessfully([web('second')])
      expect(Object.keys(await list())).toEqual(['web'])
    })

    test('of a prefix run one after another in the order of their arrival', async () => {
      const releases = ['one', 'two', 'three'].map((text) => toRelease([web(text)]))
      for (const release of releases) subject.server.deploy(release)
      for (const release of releases)
        expect(await subject.server.getOutcome(release)).toMatchObject({ successful: true })
      await getProcess('web', 'three')
    })

    test('that are sent twice run once', async () => {
      const release = toRelease([web('second')], { recreate: true })
      subject.server.deploy(release)
      expect(await subject.server.deployAndWait(release)).toMatchObject({ successful: true })
      const before = await getProcess('web', 'second')
      const reported = subject.server.listEvents(release.key ?? toNoKey()).length
      subject.server.deploy(release)
      await deploySuccessfully([web('second')])
      expect(await getProcess('web', 'second')).toBe(before)
      expect(subject.server.listEvents(release.key ?? toNoKey())).toHaveLength(reported)
    })

    test('wait for a container that is expected to exit, and fail with another exit code', async () => {
      const job = (code: number): Instance => ({
        config: {
          name: 'worker',
          ...shell(`sleep 1; exit ${code}`),
          expectedState: { state: 'exited', exitCode: 0, timeout: 60 },
        } as Instance['config'],
      })
      const release = toRelease([job(0), web('second')])
      expect(await subject.server.deployAndWait(release)).toMatchObject({ successful: true })
      const phases = subject.server
        .listEvents(release.key ?? toNoKey())
        .flatMap(({ event }) => (event.case === 'phase' ? [event.value] : []))
      const indexOfPhase = (name: 'web' | 'worker', phase: Phase, state: PhaseState) =>
        phases.findIndex((one) => one.instanceId === instances[name] && one.phase === phase && one.state === state)
      const done = indexOfPhase('worker', Phase.VERIFY, PhaseState.DONE)
      expect(done).toBeGreaterThanOrEqual(0)
      expect(indexOfPhase('web', Phase.START, PhaseState.RUNNING)).toBeGreaterThan(done)
      const outcome = await deploy([job(3), web('third')])
      expect(outcome).toMatchObject({ successful: false, instanceId: instances.worker })
      expect(outcome.reason).toContain('exit code 3')
      await getProcess('web', 'second')
    })

    test('start a container again that was stopped by hand', async () => {
      await subject.server.ask({
        case: 'operateContainer',
        value: { container: toContainer('web'), operation: Operation.STOP },
      })
      await waitUntil('it is stopped', async () => (await list()).web === 'exited')
      await deploySuccessfully([web('first')])
      await waitUntil('it runs', async () => (await list()).web === 'running')
    })

    test('are gone with the containers of their prefix', async () => {
      await deploySuccessfully([web('first'), worker])
      const answer = await subject.server.ask({ case: 'deleteContainers', value: { owner: subject.owner } })
      expect(answer.case).toBe('done')
      await waitUntil('nothing is left', async () => Object.keys(await list()).length === 0)
    })
  })
}

function toNoKey(): never {
  throw new Error('a release has a key')
}
