export { finishPromotion } from './finish-promotion.ts'
export { packageRoutes } from './routes.ts'
