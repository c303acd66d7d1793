import { z } from 'zod'
import { endpoints } from './endpoint.ts'

/** What differs in the cluster of a deployment from its release that runs. */
export const DeploymentDrift = z.object({
  /** The number of the release; null: no release of this deployment runs, so that nothing is compared. */
  release: z.int().nullish(),
  objects: z.array(
    z.object({
      /** As the cluster names it: `Deployment`, `Service`. */
      kind: z.string(),
      name: z.string(),
      /** Absent where no container of the release has it. */
      containerName: z.string().nullish(),
      /** `added`: it belongs to the deployment, and not to the release. `foreign`: it has the name of an object of the release, and is not of the deployment. */
      change: z.enum(['missing', 'changed', 'added', 'foreign']),
      fields: z.array(
        z.object({
          path: z.string(),
          /** What the release has; null: nothing. Values of secrets are never returned. */
          wanted: z.string().nullish(),
          found: z.string().nullish(),
          secret: z.boolean(),
        }),
      ),
    }),
  ),
})
export type DeploymentDrift = z.output<typeof DeploymentDrift>

export const deploymentDriftEndpoints = endpoints({
  'deployments.drift': {
    summary: 'Compare the cluster of a deployment with its release that runs',
    route: 'GET /api/:teamSlug/deployments/:deploymentId/drift',
    response: DeploymentDrift,
    errors: ['preconditionFailed'],
    permission: 'deployments.read',
  },
})
