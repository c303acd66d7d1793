export * from './generated/crux/agent/v1/agent_pb.js'
