export {
  handleTeamEvents,
  recordTeamEvent,
  type TeamEvent,
  type TeamEventOf,
  type TeamEventType,
} from './team-events.ts'
