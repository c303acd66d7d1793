import {
  createDeployment,
  createService,
  deploy,
  freePort,
  idle,
  loadImage,
  raw,
  type TestEnvironment,
  unique,
  web,
} from '@crux/test-kit'

const row = <T extends object>(value: T) => ({ id: crypto.randomUUID(), ...value })

/** A deployment with every problem that is known before a start. */
export type StartProblems = {
  deploymentId: string
  /** The ids of the containers `shop` and `worker`: the second one has the name of the first one. */
  configIds: { shop: string; worker: string }
  nodeName: string
  holder: {
    project: string
    container: string
    gated: string
    host: string
    ports: { published: number; gated: number }
  }
  /** A container that Crux did not start, and the port it publishes. */
  foreign: { name: string; port: number }
  end: () => Promise<void>
}

/**
 * Deploys a service with a published port, a gated port and a host name, starts a foreign container with a port, and prepares a deployment that
 * conflicts with all of them.
 */
export async function prepareStartProblems(testEnvironment: TestEnvironment): Promise<StartProblems> {
  const { client } = testEnvironment.user
  const inTeam = { teamSlug: testEnvironment.teamSlug }
  const [published, gated, taken] = [await freePort(), await freePort(), await freePort()]
  const host = `${unique('shop')}.example.com`
  const project = unique('holder-')
  const routed = { expose: 'expose' as const, routing: { domain: host } }
  const service = await createService(
    testEnvironment,
    [
      {
        name: unique('held/web-'),
        tag: '1',
        image: web('held'),
        config: { name: 'web', ports: [row({ internal: 8080, external: published })], ...routed },
      },
      {
        name: unique('held/api-'),
        tag: '1',
        image: web('gated'),
        config: { name: 'api', ports: [row({ internal: 8080, external: gated })], portGate: { enabled: true } },
      },
    ],
    { name: project },
  )
  const prefix = unique('held')
  const result = await deploy(testEnvironment, (await createDeployment(testEnvironment, service, prefix)).id)
  if (result.status !== 'successful') throw new Error(result.outcome)

  const foreignName = unique('foreign-')
  await loadImage('e2e-foreign:1', idle())
  const foreign = await raw.create(foreignName, {
    Image: 'e2e-foreign:1',
    ExposedPorts: { '80/tcp': {} },
    HostConfig: { PortBindings: { '80/tcp': [{ HostPort: String(taken) }] } },
  })
  await raw.start(foreign)

  const ports = [published, gated, taken].map((external, index) => row({ internal: 8080 + index, external }))
  const asking = await createService(testEnvironment, [
    {
      name: unique('asks/shop-'),
      tag: '1',
      image: web('asks'),
      config: { name: 'shop', ports, ...routed, secrets: [row({ key: 'DATABASE_PASSWORD', required: true })] },
    },
    { name: unique('asks/worker-'), tag: '1', image: idle(), config: { name: 'shop' } },
  ])
  const { id } = await createDeployment(testEnvironment, asking, unique('asks'))
  const deployment = await client.call('deployments.get', { params: { ...inTeam, deploymentId: id } })
  const getConfig = (index: number) =>
    deployment.instances.find(({ image }) => image.id === asking.imageIds[index])?.config.id ?? ''
  return {
    deploymentId: id,
    configIds: { shop: getConfig(0), worker: getConfig(1) },
    nodeName: deployment.node.name,
    holder: {
      project,
      container: `${prefix}-web`,
      gated: `${prefix}-api`,
      host,
      ports: { published, gated },
    },
    foreign: { name: foreignName, port: taken },
    end: () => raw.remove(foreign).then(() => undefined),
  }
}
