export { createGateway } from './gateway.ts'
export { createNodeLinks } from './node-links.ts'
