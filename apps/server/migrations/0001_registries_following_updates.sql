CREATE TABLE "crux"."followed_tag" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"registry_id" uuid NOT NULL,
	"name" text NOT NULL,
	"tag" text NOT NULL,
	"digest" text,
	"digest_at" timestamp (3) with time zone,
	"digest_deliveries" uuid[] DEFAULT '{}' NOT NULL,
	"checked_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"pushed_at" timestamp (3) with time zone,
	"requested_by" uuid[] DEFAULT '{}' NOT NULL,
	"claimed_at" timestamp (3) with time zone,
	"error" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"blocked_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "crux"."node_update" (
	"node_id" uuid PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"state" text NOT NULL,
	"token_hash" text NOT NULL,
	"token" text,
	"previous_hash" text,
	"image" text,
	"from_version" text NOT NULL,
	"started_by_id" text NOT NULL,
	"started_by_name" text NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deadline_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"error" text,
	CONSTRAINT "node_update_tokenHash_unique" UNIQUE("token_hash"),
	CONSTRAINT "node_update_previousHash_unique" UNIQUE("previous_hash")
);
--> statement-breakpoint
CREATE TABLE "crux"."registry_delivery" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"registry_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"event" text NOT NULL,
	"received_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"images" jsonb NOT NULL,
	"result" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."registry_delivery_key" (
	"registry_id" uuid NOT NULL,
	"key" text NOT NULL,
	"received_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "registry_delivery_key_registry_id_key_pk" PRIMARY KEY("registry_id","key")
);
--> statement-breakpoint
CREATE TABLE "crux"."registry_hook" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"registry_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"hash" text,
	"secret" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "registry_hook_secret" CHECK (num_nonnulls(hash, secret) = 1)
);
--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "follow" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "followed_by" text;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "follow_problem" text;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "follow_digest" text;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD COLUMN "follow_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD COLUMN "trigger" text;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD COLUMN "trigger_reason" text;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD COLUMN "delivery_ids" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "crux"."node" ADD COLUMN "agent_updatable" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "crux"."registry" ADD COLUMN "api_url" text;--> statement-breakpoint
ALTER TABLE "crux"."registry" ADD COLUMN "namespace" text;--> statement-breakpoint
ALTER TABLE "crux"."followed_tag" ADD CONSTRAINT "followed_tag_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node_update" ADD CONSTRAINT "node_update_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."registry_delivery" ADD CONSTRAINT "registry_delivery_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."registry_delivery_key" ADD CONSTRAINT "registry_delivery_key_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."registry_hook" ADD CONSTRAINT "registry_hook_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "followed_tag_once" ON "crux"."followed_tag" USING btree ("registry_id","name","tag");--> statement-breakpoint
CREATE INDEX "followed_tag_due" ON "crux"."followed_tag" USING btree ("next_check_at");--> statement-breakpoint
CREATE INDEX "node_update_open" ON "crux"."node_update" USING btree ("deadline_at") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "registry_delivery_newest" ON "crux"."registry_delivery" USING btree ("registry_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "registry_delivery_key_received" ON "crux"."registry_delivery_key" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "registry_hook_kind" ON "crux"."registry_hook" USING btree ("registry_id","kind");--> statement-breakpoint
CREATE INDEX "instance_following" ON "crux"."instance" USING btree ("image_id") WHERE follow <> 'off';--> statement-breakpoint
CREATE INDEX "instance_follow_due" ON "crux"."instance" USING btree ("follow_due_at") WHERE follow_due_at is not null;--> statement-breakpoint
CREATE INDEX "release_deliveries" ON "crux"."release" USING gin ("delivery_ids") WHERE delivery_ids <> '{}';