import { createDeployment, createService, deploy, type ImageSpec, signUp, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect, test } from '../kit/journey.ts'

// Every page is opened twice, so screenshots would take longer than the pages.
test.use({ trace: 'off' })

/** Runs a script if it is rendered as markup, requests another host if it is used as an address, and reverses the text direction. */
const markup = `<img src=//hostile.test/x onerror=xss()><script>xss()</script>`
const inAttribute = `"' onmouseover=xss() autofocus onfocus=xss() x="`
const template = '{{constructor.constructor("xss()")()}}\u0024{xss()}\u202e\u2066txet'
const link = 'javascript:xss()//'
const everything = [markup, inAttribute, template, link, `[x](${link})`, `![x](//hostile.test/y)`].join('\n')
/** A name has at most 70 characters. */
const name = (text: string) => `${unique('')} ${text}`.slice(0, 70)
const esc = '\u001b'
const logLines = [
  everything,
  `${esc}[31mred${esc}[0m ${esc}]8;;${link}${esc}\\a link${esc}]8;;${esc}\\`,
  `${esc}[2J${esc}[H${esc}]0;title${markup}\u0007 ${esc}[38;5;999999999999m${esc}[`,
  '{"level":"<script>xss()</script>","msg":"<img src=x onerror=xss()>"}',
].join('\n')
const image: ImageSpec = {
  cmd: ['/bin/sh', '-c', `trap 'exit 0' TERM INT; cat /hostile.txt; while :; do sleep 3600 & wait; done`],
  files: { '/hostile.txt': `${logLines}\n` },
  labels: { description: everything, 'hostile.label': markup, maintainer: inAttribute },
}

test('texts of users, images and containers are rendered as text on every page', async ({
  page,
  testSystem,
  baseURL,
}) => {
  test.setTimeout(300_000)
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug }
  const id = () => crypto.randomUUID()

  const service = await createService(
    testEnvironment,
    [
      {
        name: unique('hostile/'),
        tag: '1.0.0',
        image,
        config: {
          name: 'web',
          environment: [{ id: id(), key: 'HOSTILE', value: everything }],
          dockerLabels: [{ id: id(), key: 'hostile', value: markup }],
          args: [{ id: id(), key: markup }],
        },
      },
    ],
    { name: name(markup), versioned: '1.0.0' },
  )
  const inProject = { ...params, projectId: service.projectId }
  await client.call('projects.update', { params: inProject, body: { name: name(markup), description: everything } })
  await client.call('versions.update', {
    params: { ...inProject, versionId: service.versionId },
    body: { name: name(inAttribute), changelog: everything },
  })
  const deployment = await createDeployment(testEnvironment, service, unique('hostile'))
  const bundle = await client.call('config-bundles.create', {
    params,
    body: { name: name(template), description: everything },
  })
  await client.call('config-bundles.update', {
    params: { ...params, configBundleId: bundle.id },
    body: { config: { environment: [{ id: id(), key: 'BUNDLED', value: everything }] } },
  })
  await client.call('deployments.update', {
    params: { ...params, deploymentId: deployment.id },
    body: { prefix: deployment.prefix, protected: false, note: everything, configBundles: [bundle.id] },
  })
  const token = { name: name(link), expirationInDays: 30 }
  await client.call('tokens.create', { body: token })
  const account = await client.call('service-accounts.create', { params, body: { name: name(markup), role: 'user' } })
  await client.call('nodes.update', {
    params: { ...params, nodeId: testEnvironment.nodeId },
    body: { name: name(inAttribute), description: everything },
  })
  const storage = await client.call('storages.create', {
    params,
    body: { name: name(markup), description: everything, url: 'http://localhost:1', public: true },
  })
  const pack = await client.call('packages.create', {
    params,
    body: { name: name(markup), description: everything, chainIds: [service.versionId] },
  })
  const environment = await client.call('packages.create-environment', {
    params: { ...params, packageId: pack.id },
    body: { name: name(markup), nodeId: testEnvironment.nodeId, prefix: deployment.prefix },
  })
  await client.call('registries.create', {
    params,
    body: { name: name(template), type: 'unchecked', description: everything, details: { local: true, public: true } },
  })
  await client.call('teams.update', {
    params: { teamId: testEnvironment.teamId },
    body: { name: name(markup), slug: testEnvironment.teamSlug },
  })
  const other = await signUp(testSystem.system.url, {
    firstName: '<b onclick=xss()>',
    lastName: inAttribute.slice(0, 30),
  })
  await client.call('teams.invite', {
    params: { teamId: testEnvironment.teamId },
    body: { email: other.email, firstName: '<i onload=xss()>', lastName: 'x' },
  })
  await deploy(testEnvironment, deployment.id)

  const problems = await watch(page, baseURL ?? '')
  const details = await client.call('deployments.get', { params: { ...params, deploymentId: deployment.id } })
  const version = await client.call('versions.get', { params: { ...inProject, versionId: service.versionId } })
  const team = `/${testEnvironment.teamSlug}`
  const first = [
    '/teams',
    `/teams/${testEnvironment.teamId}`,
    `${team}/dashboard`,
    `${team}/projects/${service.projectId}`,
    `${team}/projects/${service.projectId}/versions/${service.versionId}`,
    `${team}/nodes/${testEnvironment.nodeId}`,
    `${team}/config-bundles/${bundle.id}`,
    `${team}/packages/${pack.id}`,
    `${team}/packages/${pack.id}/environments/${environment.id}`,
    `${team}/storages/${storage.id}`,
    `${team}/deployments/${deployment.id}`,
    `${team}/deployments/${deployment.id}/deploy`,
    `${team}/audit-log`,
    `${team}/nodes/${testEnvironment.nodeId}/log?prefix=${deployment.prefix}&name=web`,
    `${team}/nodes/${testEnvironment.nodeId}/inspect?prefix=${deployment.prefix}&name=web`,
    ...[version.images[0]?.config.id, details.instances[0]?.config?.id].flatMap((config) =>
      config ? [`${team}/container-configurations/${config}`] : [],
    ),
    '/basics/api',
    '/composer',
  ]
  expect(account.id).toBeTruthy()
  const opened = await crawl(page, first)
  // The hostile texts were rendered as text on the pages that show them.
  expect(opened.showing).toContain(`${team}/projects/${service.projectId}`)
  expect(opened.paths.length).toBeGreaterThan(25)
  expect(
    opened.paths.some((path) => /\/(log|logs)\b/.test(path)),
    'a page that shows a log',
  ).toBe(true)
  expect(problems).toEqual([])
  // A page that does run such a text is detected, so the detector works.
  await page.goto('/teams')
  await page.evaluate(() => (globalThis as unknown as { xss: () => void }).xss())
  expect(problems).toEqual([expect.stringContaining('a text ran as a script')])
})

/** Collects violations on any page: scripts of a text, dialogs, blocked resources, requests to another host. */
async function watch(page: Page, own: string): Promise<string[]> {
  const problems: string[] = []
  const note = (what: string) => void problems.push(`${new URL(page.url()).pathname}: ${what}`)
  await page.exposeFunction('xss', () => note('a text ran as a script'))
  await page.exposeFunction('reportViolation', (what: string) => note(`the content security policy refused ${what}`))
  await page.addInitScript(() => {
    const scope = globalThis as unknown as {
      addEventListener: (type: string, run: (event: { violatedDirective: string; blockedURI: string }) => void) => void
      reportViolation: (what: string) => void
    }
    scope.addEventListener('securitypolicyviolation', (event) =>
      scope.reportViolation(`${event.violatedDirective} ${event.blockedURI}`),
    )
  })
  page.on('dialog', (dialog) => {
    note(`a question: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('pageerror', (error) => note(error.message))
  page.on('popup', (popup) => note(`a window of ${popup.url()}`))
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (['http:', 'https:', 'ws:', 'wss:'].includes(protocol) && host !== new URL(own).host)
      note(`a request to ${request.url()}`)
  })
  return problems
}

/** Opens pages and the pages that they link to, each kind of page once per set of ids, and hovers over elements with pointer handlers. */
async function crawl(page: Page, first: readonly string[]): Promise<{ paths: string[]; showing: string[] }> {
  const waiting = [...first]
  const seen = new Set(waiting)
  const showing: string[] = []
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    await page.goto(path)
    await page.waitForLoadState('networkidle')
    if ((await page.getByText('onerror=xss()').count()) > 0) showing.push(path)
    const links = await page
      .locator('a[href]')
      .evaluateAll((all: { getAttribute: (name: string) => string | null }[]) =>
        all.map((one) => one.getAttribute('href') ?? ''),
      )
    expect([path, links.filter((href) => !/^(\/|#|\?|https?:|mailto:)/.test(href))]).toEqual([path, []])
    for (const href of links) {
      const [target = ''] = href.split('#')
      if (!target.startsWith('/') || /^\/(api|kratos|auth)\b/.test(target) || seen.has(target) || seen.size > 90)
        continue
      seen.add(target)
      waiting.push(target)
    }
  }
  return { paths: [...seen], showing }
}
