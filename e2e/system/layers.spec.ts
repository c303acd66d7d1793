import {
  createDeployment,
  createService,
  deploy,
  freePort,
  startStorage,
  storageAccount,
  unique,
  web,
} from '@crux/test-kit'
import { answers } from '../kit/service.ts'
import { needsStorage } from '../kit/storage.ts'
import { expect, test } from '../kit/test-system.ts'

test('the values of a bundle and the files of a storage reach the container, with the current keys', async ({
  testSystem,
}) => {
  needsStorage()
  test.setTimeout(600_000)
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug }
  const s3 = await startStorage()
  try {
    await s3.createBucket('site')
    await s3.put('site', 'index.html', 'from the bucket')
    const body = { name: unique('s3 '), url: s3.url, public: false, ...storageAccount }
    const storage = await client.call('storages.create', { params, body })
    const check = await client.call('storages.check', { params: { ...params, storageId: storage.id } })
    expect(check).toEqual({ reachable: true, buckets: ['site'] })

    const port = await freePort()
    const prefix = unique('l')
    const service = await createService(testEnvironment, [
      {
        name: `app/${prefix}`,
        tag: '1',
        image: web('from the image'),
        config: { name: 'web', volumes: [{ name: 'files', path: '/www', type: 'rwo' }] },
      },
    ])
    const bundle = await client.call('config-bundles.create', { params, body: { name: unique('bundle ') } })
    await client.call('config-bundles.update', {
      params: { ...params, configBundleId: bundle.id },
      body: {
        config: {
          ports: [{ internal: 8080, external: port }],
          storage: { storageId: storage.id, bucket: 'site', path: 'files' },
        },
      },
    })
    const deployment = await createDeployment(testEnvironment, service, prefix)
    const change = { prefix, protected: false, configBundles: [bundle.id] }
    await client.call('deployments.update', { params: { ...params, deploymentId: deployment.id }, body: change })

    expect(await deploy(testEnvironment, deployment.id)).toMatchObject({ status: 'successful' })
    await answers(port, 'from the bucket')

    // The keys of the storage become wrong: the next release fails, and the current container keeps running.
    await client.call('storages.update', {
      params: { ...params, storageId: storage.id },
      body: { ...body, secretKey: 'no longer this' },
    })
    await s3.put('site', 'index.html', 'newer')
    await client.call('config-bundles.update', {
      params: { ...params, configBundleId: bundle.id },
      body: { config: { environment: [{ key: 'CHANGED', value: '1' }] } },
    })
    const failed = await deploy(testEnvironment, deployment.id)
    expect(failed.status).toBe('failed')
    expect(JSON.stringify(failed.events)).not.toContain('no longer this')
    await answers(port, 'from the bucket')

    await client.call('storages.update', { params: { ...params, storageId: storage.id }, body })
    expect(await deploy(testEnvironment, deployment.id)).toMatchObject({ status: 'successful' })
    await answers(port, 'newer')
  } finally {
    await s3.dispose()
  }
})
