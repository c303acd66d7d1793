import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const collection = '/apis/admissionregistration.k8s.io/v1'
const exposed = (text: string, domain: string) => ({
  ...serve(text),
  expose: 'expose' as const,
  routing: { domain },
})

describe.skipIf(kubernetesMissing())('what a failed release has changed on Kubernetes', () => {
  let agent: ClusterAgent
  let toRelease: ReleaseSequence['toRelease']
  let deploy: ReleaseSequence['deploy']
  let deploySuccessfully: ReleaseSequence['deploySuccessfully']
  let policy: string
  beforeEach(async () => {
    agent = await startClusterAgent()
    ;({ toRelease, deploy, deploySuccessfully } = createReleaseSequence(agent, {
      release: { cluster: { ingressClass: 'nginx' } },
    }))
    policy = `${agent.owner.prefix}.example.com`
  })
  afterEach(async () => {
    for (const kind of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'])
      await agent.admin.json({ method: 'DELETE', path: `${collection}/${kind}/${policy}` }).catch(() => undefined)
    await agent.dispose()
  })

  const toPath = (group: string, resource: string) => `/apis/${group}/v1/namespaces/${agent.owner.prefix}/${resource}`
  const send = (method: 'PATCH' | 'POST', path: string, body: object, query = {}) =>
    agent.admin.json({
      method,
      path,
      query,
      ...(method === 'PATCH' && { contentType: 'application/merge-patch+json' }),
      body,
    })

  /** The cluster refuses changes for which the expression is false, as soon as it refuses the probe. */
  async function refuse(expression: string, probe: () => Promise<unknown>) {
    const metadata = { name: policy }
    const rule = (apiGroup: string, resource: string) => ({
      apiGroups: [apiGroup],
      apiVersions: ['v1'],
      operations: ['UPDATE'],
      resources: [resource],
    })
    await send('POST', `${collection}/validatingadmissionpolicies`, {
      metadata,
      spec: {
        matchConstraints: { resourceRules: [rule('apps', 'deployments'), rule('networking.k8s.io', 'ingresses')] },
        validations: [{ expression, message: 'refused by the policy of the test' }],
      },
    })
    await send('POST', `${collection}/validatingadmissionpolicybindings`, {
      metadata,
      spec: {
        policyName: policy,
        validationActions: ['Deny'],
        matchResources: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': agent.owner.prefix } },
        },
      },
    })
    await waitUntil('the policy refuses', () =>
      probe().then(
        () => false,
        (error: unknown) => String(error).includes('policy of the test'),
      ),
    )
  }

  test('is put back object by object: one that the cluster refuses is named, and the others are put back', async () => {
    await deploySuccessfully({ ...exposed('one', 'one.example.com'), ports })
    const before = await agent.get('Service', 'web')
    const isBack = `object.metadata.labels['dev.crux.release'] == '1'`
    const wasNew = `oldObject.metadata.labels['dev.crux.release'] == '2'`
    await refuse(`object.kind == 'Deployment' ? !(${isBack} && ${wasNew}) : size(object.spec.rules) == 1`, async () => {
      const ingress = await agent.get('Ingress', 'web')
      const [rule] = [getPath(ingress, 'spec', 'rules')].flat()
      const body = { spec: { rules: [rule, { ...Object(rule), host: 'probe.example.com' }] } }
      return send('PATCH', `${toPath('networking.k8s.io', 'ingresses')}/web`, body, { dryRun: 'All' })
    })
    const outcome = await deploy({
      ...exposed('two', 'one.example.com,two.example.com'),
      ports: [{ internal: 8080, external: 81 }],
    })
    expect(outcome).toMatchObject({ successful: false, previousRestored: false })
    expect(outcome.reason).toMatch(/Ingress web.*refused by the policy of the test.*; the Deployment web: /)
    const after = await agent.get('Service', 'web')
    expect(after?.fields.spec).toEqual(before?.fields.spec)
    expect(after?.labels).toEqual(before?.labels)
  })

  test.each(['Background', 'Foreground'])(
    'is put back as far as somebody does not delete it meanwhile (%s), and the outcome says so',
    async (propagationPolicy) => {
      const readiness = { readinessProbe: '/', port: 8080, startPeriodSeconds: 5 }
      await deploySuccessfully({ ...serve('one'), deploymentStrategy: 'recreate', healthCheckConfig: readiness })
      const release = toRelease({ ...shell('exit 3'), deploymentStrategy: 'recreate' })
      agent.server.deploy(release)
      const getRelease = async () => (await agent.get('Deployment', 'web'))?.labels['dev.crux.release']
      await waitUntil('the new pod is made', async () => (await getRelease()) === '2')
      await waitUntil('the previous one is put back', async () => (await getRelease()) === '1')
      await agent.admin.json({
        method: 'DELETE',
        path: `${toPath('apps', 'deployments')}/web`,
        body: { propagationPolicy },
      })
      const outcome = await agent.server.getOutcome(release)
      expect(outcome).toMatchObject({ successful: false, previousRestored: false })
      expect(outcome.reason).toContain(
        'the container ended with exit code 3; web is put back, but the Deployment web was',
      )
    },
  )
})
