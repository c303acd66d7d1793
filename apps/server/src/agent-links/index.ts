export { isSupported, minimumVersion, serverVersion } from './agent-version.ts'
export {
  type AgentStream,
  type Command,
  type CommandResult,
  type DeploymentPort,
  type LinkedAgent,
  type LogBatch,
  type NodeLinks,
  type StreamHandler,
  unusableAnswer,
} from './links.ts'
