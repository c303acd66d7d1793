import { idle } from '@crux/test-kit'
import { startTestEnvironment } from './kit/index.ts'
import { describeReleases } from './release-suite.ts'

describeReleases('Docker', async () => {
  const testEnvironment = await startTestEnvironment()
  const { owner, server } = testEnvironment
  const { reference } = await testEnvironment.publish('app:1', idle())
  return {
    server,
    owner,
    image: { image: reference },
    seal: testEnvironment.seal,
    restartAgent: () => testEnvironment.restartAgent(),
    dispose: () => testEnvironment.dispose(),
  }
})
