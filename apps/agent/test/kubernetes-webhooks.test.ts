import type { Release } from '@crux/agent-protocol'
import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { ports, serve } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const collection = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const exposed = { ...serve('two'), ports, expose: 'expose' } as const

describe.skipIf(missing)('an admission webhook that does not answer', () => {
  let agent: ClusterAgent
  let toRelease: ReleaseSequence['toRelease']
  let deploySuccessfully: ReleaseSequence['deploySuccessfully']
  let webhook: string
  beforeEach(async () => {
    agent = await startClusterAgent({ rootDomain: 'apps.example.com' })
    ;({ toRelease, deploySuccessfully } = createReleaseSequence(agent, {
      release: { cluster: { ingressClass: 'nginx' } },
    }))
    webhook = `${agent.owner.prefix}.example.com`
  })
  afterEach(async () => {
    await agent.admin.json({ method: 'DELETE', path: `${collection}/${webhook}` }).catch(() => undefined)
    await agent.dispose()
  })

  /** Registers a webhook without a program for changes in the namespace of the test, and waits until the API server calls it. */
  async function breakWebhook(
    apiGroup: string,
    resource: string,
    operation: 'CREATE' | 'UPDATE',
    probe: () => Promise<unknown>,
  ) {
    const { prefix } = agent.owner
    await agent.admin.json({
      method: 'POST',
      path: collection,
      body: {
        metadata: { name: webhook },
        webhooks: [
          {
            name: webhook,
            clientConfig: { service: { namespace: prefix, name: 'missing', path: '/' } },
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': prefix } },
            rules: [{ apiGroups: [apiGroup], apiVersions: ['v1'], resources: [resource], operations: [operation] }],
            failurePolicy: 'Fail',
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
    })
    await waitUntil('the webhook is called', () =>
      probe().then(
        () => false,
        (error: unknown) => String(error).includes('failed calling webhook'),
      ),
    )
  }

  const toOutcome = (release: Release) => agent.server.getOutcome(release)

  test('fails a release with its name, and the previous pods stay', async () => {
    await deploySuccessfully({ ...serve('one'), ports })
    const before = await agent.get('Deployment', 'web')
    await breakWebhook('networking.k8s.io', 'ingresses', 'CREATE', () =>
      agent.admin.json({
        method: 'POST',
        path: `/apis/networking.k8s.io/v1/namespaces/${agent.owner.prefix}/ingresses`,
        query: { dryRun: 'All' },
        body: {
          metadata: { name: 'probe' },
          spec: { defaultBackend: { service: { name: 'web', port: { number: 8080 } } } },
        },
      }),
    )
    const release = toRelease(exposed)
    agent.server.deploy(release)
    await waitUntil('the wait is reported', () =>
      agent.server.toLines(release).some((line) => line.includes(webhook) && line.endsWith('trying again for 20 s')),
    )
    const outcome = await toOutcome(release)
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    expect(outcome.reason).toContain(
      `The cluster could not create the Ingress web in the namespace ${agent.owner.prefix}: its admission webhook ${webhook} does not answer`,
    )
    expect(outcome.reason).toContain('service "missing" not found')
    const after = await agent.get('Deployment', 'web')
    expect(after?.fields.spec).toEqual(before?.fields.spec)
    expect(await agent.get('Ingress', 'web')).toBeUndefined()
  })

  test('lets a release succeed when it answers again in time', async () => {
    await deploySuccessfully({ ...serve('one'), ports })
    await breakWebhook('apps', 'deployments', 'UPDATE', changeDeployment)
    const release = toRelease({ ...serve('two'), ports })
    agent.server.deploy(release)
    await waitUntil('the wait is reported', () =>
      agent.server.toLines(release).some((line) => line.endsWith('trying again for 20 s')),
    )
    await agent.admin.json({ method: 'DELETE', path: `${collection}/${webhook}` })
    expect(await toOutcome(release)).toMatchObject({ successful: true, reason: '' })
    expect(agent.server.toLines(release)).toContain('the cluster answers again')
  })

  test('is a problem of an undo that the outcome names, also of a cancelled release', async () => {
    await deploySuccessfully({ ...serve('one'), ports })
    const release = toRelease({ ...serve('two'), ports, healthCheckConfig: { readinessProbe: '/missing', port: 8080 } })
    agent.server.deploy(release)
    await waitUntil('the new pod exists', async () => (await agent.pods()).length === 2)
    await breakWebhook('apps', 'deployments', 'UPDATE', changeDeployment)
    agent.server.send({ case: 'cancelDeployment', value: { release: release.key } })
    const outcome = await toOutcome(release)
    expect(outcome).toMatchObject({ successful: false, cancelled: true, previousRestored: false })
    expect(outcome.reason).toContain('web: The cluster could not change the Deployment web')
    expect(outcome.reason).toContain(`its admission webhook ${webhook} does not answer`)
  })

  const changeDeployment = () =>
    agent.admin.json({
      method: 'PATCH',
      path: `/apis/apps/v1/namespaces/${agent.owner.prefix}/deployments/web`,
      query: { dryRun: 'All' },
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { probe: 'one' } } },
    })
})
