CREATE TABLE "crux"."notification" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"url" text,
	"masked_url" text DEFAULT '' NOT NULL,
	"secret" text,
	"member_ids" text[] DEFAULT '{}' NOT NULL,
	"active" boolean DEFAULT false NOT NULL,
	"enabled_events" text[] DEFAULT '{}' NOT NULL,
	"problem" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."notification_delivery" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"notification_id" uuid NOT NULL,
	"recipient_id" text DEFAULT '' NOT NULL,
	"event_key" text NOT NULL,
	"event" text NOT NULL,
	"text" text NOT NULL,
	"data" jsonb NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"status_code" integer,
	"error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_attempt_at" timestamp (3) with time zone,
	"next_attempt_at" timestamp (3) with time zone,
	"claimed_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "crux"."freeze_window" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"environment_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"reason" text NOT NULL,
	"days" integer[],
	"from_time" text,
	"to_time" text,
	"time_zone" text,
	"starts_at" timestamp (3) with time zone,
	"ends_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."package_chain" (
	"package_id" uuid NOT NULL,
	"chain_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"order" integer NOT NULL,
	CONSTRAINT "package_chain_package_id_chain_id_pk" PRIMARY KEY("package_id","chain_id")
);
--> statement-breakpoint
CREATE TABLE "crux"."package_environment" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"package_id" uuid NOT NULL,
	"name" text NOT NULL,
	"node_id" uuid NOT NULL,
	"prefix" text NOT NULL,
	"order" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."package_promotion" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"environment_id" uuid NOT NULL,
	"version_id" uuid,
	"version_name" text NOT NULL,
	"project_id" uuid,
	"project_name" text NOT NULL,
	"from_environment_id" uuid,
	"from_environment_name" text,
	"note" text,
	"deployment_id" uuid,
	"release_number" integer NOT NULL,
	"override_freeze" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by_id" text NOT NULL,
	"created_by_name" text NOT NULL,
	"status" text DEFAULT 'in-progress' NOT NULL,
	"reason" text,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "crux"."package" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"icon" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."pipeline" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"description" text,
	"icon" text,
	"organization" text NOT NULL,
	"project" text NOT NULL,
	"external_project_id" text,
	"branch" text,
	"trigger_name" text NOT NULL,
	"external_pipeline_id" text,
	"inputs" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"token" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."pipeline_event_watcher" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"pipeline_id" uuid NOT NULL,
	"registry_id" uuid NOT NULL,
	"name" text NOT NULL,
	"event" text NOT NULL,
	"image_name_starts_with" text DEFAULT '' NOT NULL,
	"inputs" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."pipeline_hook" (
	"pipeline_id" uuid PRIMARY KEY NOT NULL,
	"external_id" text,
	"secret" text,
	"problem" text,
	"last_delivery_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "crux"."pipeline_run" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"pipeline_id" uuid NOT NULL,
	"external_id" bigint,
	"url" text,
	"status" text NOT NULL,
	"reason" text,
	"inputs" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"creator_type" text NOT NULL,
	"created_by_id" text NOT NULL,
	"created_by_name" text NOT NULL,
	"event_watcher_id" uuid,
	"event_key" text,
	"finished_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone,
	"checks" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "crux"."release" ADD COLUMN "override_freeze" text;--> statement-breakpoint
ALTER TABLE "crux"."node" ADD COLUMN "unreachable_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "crux"."notification" ADD CONSTRAINT "notification_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."notification_delivery" ADD CONSTRAINT "notification_delivery_notification_id_notification_id_fk" FOREIGN KEY ("notification_id") REFERENCES "crux"."notification"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."freeze_window" ADD CONSTRAINT "freeze_window_environment_id_package_environment_id_fk" FOREIGN KEY ("environment_id") REFERENCES "crux"."package_environment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."package_chain" ADD CONSTRAINT "package_chain_package_id_package_id_fk" FOREIGN KEY ("package_id") REFERENCES "crux"."package"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."package_chain" ADD CONSTRAINT "package_chain_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "crux"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."package_environment" ADD CONSTRAINT "package_environment_package_id_package_id_fk" FOREIGN KEY ("package_id") REFERENCES "crux"."package"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."package_environment" ADD CONSTRAINT "package_environment_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."package_promotion" ADD CONSTRAINT "package_promotion_environment_id_package_environment_id_fk" FOREIGN KEY ("environment_id") REFERENCES "crux"."package_environment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."package" ADD CONSTRAINT "package_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."pipeline" ADD CONSTRAINT "pipeline_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."pipeline_event_watcher" ADD CONSTRAINT "pipeline_event_watcher_pipeline_id_pipeline_id_fk" FOREIGN KEY ("pipeline_id") REFERENCES "crux"."pipeline"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."pipeline_event_watcher" ADD CONSTRAINT "pipeline_event_watcher_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."pipeline_hook" ADD CONSTRAINT "pipeline_hook_pipeline_id_pipeline_id_fk" FOREIGN KEY ("pipeline_id") REFERENCES "crux"."pipeline"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."pipeline_run" ADD CONSTRAINT "pipeline_run_pipeline_id_pipeline_id_fk" FOREIGN KEY ("pipeline_id") REFERENCES "crux"."pipeline"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."pipeline_run" ADD CONSTRAINT "pipeline_run_event_watcher_id_pipeline_event_watcher_id_fk" FOREIGN KEY ("event_watcher_id") REFERENCES "crux"."pipeline_event_watcher"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "notification_name" ON "crux"."notification" USING btree ("team_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "notification_delivery_once" ON "crux"."notification_delivery" USING btree ("notification_id","recipient_id","event_key");--> statement-breakpoint
CREATE INDEX "notification_delivery_newest" ON "crux"."notification_delivery" USING btree ("notification_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "notification_delivery_due" ON "crux"."notification_delivery" USING btree ("next_attempt_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "notification_delivery_age" ON "crux"."notification_delivery" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "freeze_window_environment" ON "crux"."freeze_window" USING btree ("environment_id");--> statement-breakpoint
CREATE INDEX "package_chain_project" ON "crux"."package_chain" USING btree ("project_id");--> statement-breakpoint
CREATE UNIQUE INDEX "package_environment_name" ON "crux"."package_environment" USING btree ("package_id","name");--> statement-breakpoint
CREATE INDEX "package_environment_target" ON "crux"."package_environment" USING btree ("node_id","prefix");--> statement-breakpoint
CREATE INDEX "package_promotion_newest" ON "crux"."package_promotion" USING btree ("environment_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE UNIQUE INDEX "package_promotion_release" ON "crux"."package_promotion" USING btree ("deployment_id","release_number");--> statement-breakpoint
CREATE UNIQUE INDEX "package_name" ON "crux"."package" USING btree ("team_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "pipeline_name" ON "crux"."pipeline" USING btree ("team_id","name");--> statement-breakpoint
CREATE INDEX "pipeline_event_watcher_pipeline" ON "crux"."pipeline_event_watcher" USING btree ("pipeline_id");--> statement-breakpoint
CREATE INDEX "pipeline_event_watcher_registry" ON "crux"."pipeline_event_watcher" USING btree ("registry_id","event");--> statement-breakpoint
CREATE UNIQUE INDEX "pipeline_run_external" ON "crux"."pipeline_run" USING btree ("pipeline_id","external_id");--> statement-breakpoint
CREATE UNIQUE INDEX "pipeline_run_event" ON "crux"."pipeline_run" USING btree ("pipeline_id","event_key") WHERE event_key is not null;--> statement-breakpoint
CREATE INDEX "pipeline_run_newest" ON "crux"."pipeline_run" USING btree ("pipeline_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "pipeline_run_due" ON "crux"."pipeline_run" USING btree ("next_check_at") WHERE next_check_at is not null;--> statement-breakpoint
CREATE INDEX "node_unreported" ON "crux"."node" USING btree ("disconnected_at") WHERE link_server is null and unreachable_since is null;--> statement-breakpoint
CREATE INDEX "node_back" ON "crux"."node" USING btree ("id") WHERE link_server is not null and unreachable_since is not null;