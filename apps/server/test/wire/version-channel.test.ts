import { afterAll, beforeAll, it } from 'vitest'
import { type Someone, startTestServer, type TestServer } from '../kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from '../kit/test-environment.ts'
import { createRecorder, expectRecorded } from './recorder.ts'

let server: TestServer
let ada: Someone
let testEnvironment: TestEnvironment

beforeAll(async () => {
  server = await startTestServer()
  ada = server.signUp('Ada Byron')
  testEnvironment = await makeTestEnvironment(server, ada)
})
afterAll(() => server.stop())

it('a tag change sends the sender an acknowledgement and others the tag, and the image only to clients that request it', async () => {
  const { teamSlug, projectId, versionId, imageId, registryId, configId } = testEnvironment
  const recorder = createRecorder(server, { team: teamSlug, projectId, versionId, imageId, registryId, configId })
  const path = `/${teamSlug}/projects/${projectId}/versions/${versionId}`
  const sender = await recorder.listen(ada, path)
  const other = await recorder.listen(ada, path)
  sender.send('set-image-tag', { imageId, tag: '2' })
  await sender.until('patch-received')
  await other.until('image-tag-updated')
  // After a change over REST both clients are others.
  await recorder.request(
    ada,
    'PATCH',
    `/api/${teamSlug}/projects/${projectId}/versions/${versionId}/images/${imageId}`,
    {
      tag: '3',
    },
  )
  await other.until('image-tag-updated')
  await sender.until('image-tag-updated')
  // These are the last messages, so that additional ones would come before them.
  for (const client of [sender, other]) {
    client.send('get-image', { id: imageId })
    await client.until('image')
  }
  expectRecorded({ sender: sender.log, other: other.log }, 'set-image-tag')
  sender.close()
  other.close()
})
