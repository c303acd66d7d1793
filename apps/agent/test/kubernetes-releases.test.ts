import { kubernetesImage, kubernetesMissing } from '@crux/test-kit'
import { startClusterAgent } from './kit/cluster-agent.ts'
import { describeReleases } from './release-suite.ts'

describeReleases(
  'Kubernetes',
  async () => {
    const agent = await startClusterAgent()
    const { owner, restartAgent, seal, server } = agent
    return {
      server,
      owner,
      image: { image: kubernetesImage, localOnly: true },
      seal,
      restartAgent,
      dispose: () => agent.dispose(),
    }
  },
  kubernetesMissing(),
)
