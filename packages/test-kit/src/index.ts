export { type AzureDevOps, type AzureRun, startAzureDevOps } from './azure-devops.ts'
export { type CaptchaService, startCaptchaService } from './captcha-service.ts'
export type { CiHookDelivery, CiRequest } from './ci-server.ts'
export { type CreateOptions, engine, loadImage, raw, removeContainers, removeImages } from './engine.ts'
export { freePort, freePortRange } from './free-ports.ts'
export { type GithubActions, githubWorkflow, startGithubActions } from './github-actions.ts'
export { type GitlabCi, startGitlabCi } from './gitlab-ci.ts'
export { exits, type ImageSpec, idle, saveImage, web } from './image.ts'
export {
  findKubernetesMachine,
  forwardToKubernetes,
  type KubernetesMachine,
  kubernetesImage,
  kubernetesMissing,
  provideKubernetes,
  startKubernetes,
  startOwnKubernetes,
} from './kubernetes.ts'
export { leadToLoopback } from './lead-to-loopback.ts'
export { arbitraryJson, type Endpoint, type FuzzRequest, fuzzRequests } from './malformed.ts'
export { followRedirects, type OidcAccount, type OidcServer, oidcClient, startOidcServer } from './oidc-server.ts'
export { type RawAnswer, rawRequester } from './raw-request.ts'
export { type Registry, registryAccount, startRegistry } from './registry.ts'
export { startStorage, storageAccount, storageMissing, type TestStorage } from './storage.ts'
export {
  connectLocalNode,
  connectRegistry,
  createDeployment,
  createService,
  createTeam,
  createTestEnvironment,
  deploy,
  finished,
  type Service,
  type ServiceImage,
  setTag,
  startDeployment,
  type TestEnvironment,
  unique,
} from './test-environment.ts'
export { startTokenRegistry, type TokenRegistry } from './token-registry.ts'
export { signInAgain, signUp, type TestUser } from './user.ts'
export { waitFor } from './wait.ts'
