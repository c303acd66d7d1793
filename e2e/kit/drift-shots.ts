import type { ResponseOf } from '@crux/contract'
import { expect, type Page } from '@playwright/test'
import type { Shot } from './deployment-shots.ts'
import type { Fixture } from './fixture.ts'

type Drift = ResponseOf<'deployments.drift'>

const container = 'spec.template.spec.containers[web]'
const objects: Drift['objects'] = [
  {
    kind: 'Deployment',
    name: 'web',
    containerName: 'web',
    change: 'changed',
    fields: [
      { path: 'spec.replicas', wanted: '2', found: '0', secret: false },
      {
        path: `${container}.image`,
        wanted: `registry.example.com/shop/web@sha256:${'4f'.repeat(32)}`,
        found: 'registry.example.com/shop/web:debug',
        secret: false,
      },
      { path: `${container}.resources`, wanted: '{"limits":{"memory":"256Mi"}}', found: null, secret: false },
    ],
  },
  { kind: 'Service', name: 'web', containerName: 'web', change: 'missing', fields: [] },
  {
    kind: 'Secret',
    name: 'web-secret-0a1b2c3d4e',
    containerName: 'web',
    change: 'changed',
    fields: [{ path: 'data.DATABASE_PASSWORD', wanted: null, found: null, secret: true }],
  },
  { kind: 'Deployment', name: 'debug', containerName: null, change: 'added', fields: [] },
]

/** Screenshots of a deployment on a cluster that somebody else has changed. */
export function driftShots(fixture: () => Fixture): Shot[] {
  const path = () => `/${fixture().team}/deployments/${fixture().deployment.good}`
  const at = (rest = '') => new RegExp(`/api/[^/]+/deployments/${fixture().deployment.good}${rest}$`)
  /** The deployment as if its node were a cluster. */
  const onCluster = (page: Page) =>
    page.route(at(), async (route) => {
      const response = await route.fetch()
      const body: ResponseOf<'deployments.get'> = await response.json()
      await route.fulfill({ response, json: { ...body, node: { ...body.node, type: 'k8s' } } })
    })
  const withAnswer = (status: number, toBody: (number: number) => object) => async (page: Page) => {
    await onCluster(page)
    await page.route(at('/drift'), async (route) => {
      const response = await route.fetch({
        url: route
          .request()
          .url()
          .replace(/\/drift$/, ''),
      })
      const { running }: ResponseOf<'deployments.get'> = await response.json()
      await route.fulfill({ status, json: toBody(running?.number ?? 0) })
    })
  }
  const withDrift = withAnswer(200, (release) => ({ release, objects }))
  const box = (page: Page) => page.getByRole('region', { name: 'Changed in the cluster' })
  return [
    {
      name: 'deployment-drift',
      path,
      before: withDrift,
      act: async (page) => {
        await expect(box(page).getByText('Secret values differ')).toBeVisible()
        await expect(box(page).getByText('is missing.')).toBeVisible()
      },
    },
    {
      name: 'deployment-drift-put-back',
      path,
      before: withDrift,
      act: async (page) => {
        await box(page).getByRole('button', { name: 'Put it back' }).click()
        await expect(page.getByRole('dialog').getByText('takes back what other programs have changed')).toBeVisible()
      },
    },
    {
      name: 'deployment-drift-unchecked',
      path,
      before: withAnswer(412, () => ({
        error: 'preconditionFailed',
        property: 'key',
        description: 'the secret KEY cannot be read on this node: enter its value again',
      })),
      act: async (page) => {
        await expect(page.getByText('Changes in the cluster could not be checked: the secret KEY')).toBeVisible()
        await expect(box(page)).toHaveCount(0)
      },
    },
  ]
}
