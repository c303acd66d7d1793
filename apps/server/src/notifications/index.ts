export { notify } from './notify.ts'
export { cleanDeliveries } from './retention.ts'
export { notificationRoutes } from './routes.ts'
export { createSender, type Sender } from './sender.ts'
