import { z } from 'zod'
import { FinalContainerConfig } from './container-configuration.ts'
import { DeploymentPreview } from './deployments.ts'
import { endpoints } from './endpoint.ts'
import { containerConfigTypes } from './enums.ts'
import { limits } from './limits.ts'
import { Id } from './shapes.ts'

const one = '/api/:teamSlug/deployments/:deploymentId' as const

/** The origin of a value: a layer, or `default` where no layer sets it. */
export const ConfigOrigin = z.object({
  source: z.enum([...containerConfigTypes, 'default']),
  /** The name of the bundle, image or deployment. */
  name: z.string().nullish(),
  configId: Id.nullish(),
})
export const FinalConfiguration = z.object({
  instanceId: Id,
  containerName: z.string(),
  /** All layers merged; secrets by key, without values. */
  config: FinalContainerConfig,
  /** By part: `environment.LOG_LEVEL`, `ports.8080/tcp`, `name`. */
  origins: z.record(z.string(), ConfigOrigin),
  /** Fields that this type of node does not apply. */
  notApplied: z.array(z.string()),
})
export const SecretKeys = z.object({ publicKey: z.string(), keys: z.array(z.string()) })

export const deploymentConfigurationEndpoints = endpoints({
  'deployments.final-configuration': {
    summary: 'Get the final configuration of each instance with the origin of every value',
    route: `GET ${one}/final-configuration`,
    response: z.array(FinalConfiguration),
    permission: 'deployments.read',
  },
  'deployments.secrets': {
    summary: "Keys of the prefix's shared secrets that the node has, and its public key",
    route: `GET ${one}/secrets`,
    response: SecretKeys,
    errors: ['preconditionFailed'],
    permission: 'container-configurations.read',
  },
  'deployments.instance-secrets': {
    summary: "Keys of the secrets that an instance's container has, and the node's public key",
    route: `GET ${one}/instances/:instanceId/secrets`,
    response: SecretKeys.extend({ container: z.object({ prefix: z.string(), name: z.string() }) }),
    errors: ['preconditionFailed'],
    permission: 'container-configurations.read',
  },
  'deployments.preview-release': {
    summary: 'Preview a rollback to an earlier release',
    route: `GET ${one}/releases/:number/preview`,
    response: DeploymentPreview,
    permission: 'deployments.read',
  },
  'deployments.log-file': {
    summary: 'Download the events of one release or of all as a text file',
    route: `GET ${one}/log/file`,
    query: z.object({ try: z.coerce.number().int().min(1).max(limits.releaseNumber).optional() }),
    contentType: 'text/plain; charset=utf-8',
    permission: 'deployments.read',
  },
})
