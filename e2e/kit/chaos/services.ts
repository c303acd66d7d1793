import {
  createDeployment,
  createService,
  engine,
  finished,
  freePort,
  type Service,
  setTag,
  startDeployment,
  unique,
  waitFor,
  web,
} from '@crux/test-kit'
import { toAnswer } from '../service.ts'
import type { ChaosSystem } from './chaos-system.ts'

export interface ChaosService {
  name: string
  /** Starts the next release. The outcome of the release determines which containers run afterwards. */
  redeploy(): Promise<void>
  /**
   * Waits for the end of the release, which has to reach success without manual repair.
   *
   * @returns the violations
   */
  check(): Promise<string[]>
  /** Kills the first process of the container from outside, like a crash. */
  crash(): Promise<void>
  /** The full name of its only container. */
  container: string
  service: Service
}

interface Inspected {
  State: { Pid: number; Running: boolean }
  Config: { Image: string }
}

/** Deploys a busybox web server that returns which of its two images it is, with or without a gate. */
export async function deployService(testSystem: ChaosSystem, options: { gated: boolean }): Promise<ChaosService> {
  const { testEnvironment, registry } = testSystem
  const image = `chaos/${unique('web')}`
  const port = await freePort()
  const prefix = unique('c')
  const container = `${prefix}-web`
  const service = await createService(testEnvironment, [
    {
      name: image,
      tag: '1',
      image: web(`${image} 1`),
      config: {
        name: 'web',
        restartPolicy: 'always',
        ports: [{ internal: 8080, external: port }],
        portGate: { enabled: options.gated },
      },
    },
  ])
  await registry.push(image, '2', web(`${image} 2`))
  const deployment = await createDeployment(testEnvironment, service, prefix)
  const name = options.gated ? 'the gated service' : 'the service without a gate'
  let wantedTag = '1'
  let runningTag = '1'
  const inspect = () => engine<Inspected>('GET', `/containers/${container}/json`)

  async function start(): Promise<void> {
    await waitFor(
      `${name} is started`,
      async () => {
        try {
          await startDeployment(testEnvironment, deployment.id)
          return true
        } catch (error) {
          // A start whose answer was lost has begun anyway, and the second one is refused.
          if ((await getStatus()) === 'in-progress') return true
          throw error
        }
      },
      { timeoutMs: 60_000, everyMs: 250 },
    )
  }
  const getStatus = async () =>
    (
      await testEnvironment.user.client.call('deployments.get', {
        params: { teamSlug: testEnvironment.teamSlug, deploymentId: deployment.id },
      })
    ).status

  /** Compares the containers with the expected result of a successful or failed release. */
  async function compare(tag: string): Promise<string[]> {
    const wrong: string[] = []
    const answer = await waitFor(`${name} answers`, () => toAnswer(port), { timeoutMs: 30_000 }).catch(() => 'nothing')
    if (answer !== `${image} ${tag}`) wrong.push(`${name} answers "${answer}" where image ${tag} is released`)
    const seen = await inspect().catch(() => undefined)
    if (!seen?.State.Running) wrong.push(`the container of ${name} does not run`)
    return wrong
  }

  await start()
  const first = await finished(testEnvironment, deployment.id)
  if (first.status !== 'successful') throw new Error(`${name}: ${first.outcome}`)
  return {
    name,
    container,
    service,
    async redeploy() {
      wantedTag = wantedTag === '1' ? '2' : '1'
      await setTag(testEnvironment, service, 0, wantedTag)
      await start()
    },
    async check() {
      const ended = await finished(testEnvironment, deployment.id, { timeoutMs: 150_000 })
      if (ended.status === 'successful') {
        runningTag = wantedTag
        return compare(runningTag)
      }
      const wrong = await compare(runningTag)
      await start()
      const again = await finished(testEnvironment, deployment.id, { timeoutMs: 150_000 })
      if (again.status !== 'successful') return [...wrong, `${name} cannot be deployed again: ${again.outcome}`]
      runningTag = wantedTag
      return [...wrong, ...(await compare(runningTag))]
    },
    async crash() {
      const { State } = await inspect()
      if (State.Pid > 0) process.kill(State.Pid, 'SIGKILL')
    },
  }
}
