export type { AgentProcess, ProcessName, System, SystemOptions } from './system.ts'
export { bootSystem } from './system.ts'
