export { createFollowing, type Following } from './following.ts'
