CREATE TABLE "crux"."config_bundle" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."container_config_revision" (
	"config_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"fields" jsonb NOT NULL,
	"changed" text[] NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "container_config_revision_config_id_revision_pk" PRIMARY KEY("config_id","revision")
);
--> statement-breakpoint
CREATE TABLE "crux"."deployment_config_bundle" (
	"deployment_id" uuid NOT NULL,
	"config_bundle_id" uuid NOT NULL,
	"order" integer NOT NULL,
	CONSTRAINT "deployment_config_bundle_deployment_id_config_bundle_id_pk" PRIMARY KEY("deployment_id","config_bundle_id")
);
--> statement-breakpoint
CREATE TABLE "crux"."storage" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"icon" text,
	"url" text NOT NULL,
	"access_key" text,
	"secret_key" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
-- Storages did not exist before: what a configuration named as one led nowhere.
UPDATE "crux"."container_config" SET "fields" = "fields" - 'storage' WHERE "fields" -> 'storage' ->> 'storageId' IS NOT NULL;
--> statement-breakpoint
ALTER TABLE "crux"."container_config" DROP CONSTRAINT "container_config_owner";--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD COLUMN "config_bundle_id" uuid;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD COLUMN "storage_id" uuid GENERATED ALWAYS AS ((fields -> 'storage' ->> 'storageId')::uuid) STORED;--> statement-breakpoint
ALTER TABLE "crux"."config_bundle" ADD CONSTRAINT "config_bundle_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config_revision" ADD CONSTRAINT "container_config_revision_config_id_container_config_id_fk" FOREIGN KEY ("config_id") REFERENCES "crux"."container_config"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment_config_bundle" ADD CONSTRAINT "deployment_config_bundle_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment_config_bundle" ADD CONSTRAINT "deployment_config_bundle_config_bundle_id_config_bundle_id_fk" FOREIGN KEY ("config_bundle_id") REFERENCES "crux"."config_bundle"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."storage" ADD CONSTRAINT "storage_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "config_bundle_name" ON "crux"."config_bundle" USING btree ("team_id","name");--> statement-breakpoint
CREATE INDEX "deployment_config_bundle_by_bundle" ON "crux"."deployment_config_bundle" USING btree ("config_bundle_id");--> statement-breakpoint
CREATE UNIQUE INDEX "storage_name" ON "crux"."storage" USING btree ("team_id","name");--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_config_bundle_id_config_bundle_id_fk" FOREIGN KEY ("config_bundle_id") REFERENCES "crux"."config_bundle"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_storage_id_storage_id_fk" FOREIGN KEY ("storage_id") REFERENCES "crux"."storage"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "container_config_storage" ON "crux"."container_config" USING btree ("storage_id");--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_configBundleId_unique" UNIQUE("config_bundle_id");--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_owner" CHECK (num_nonnulls("crux"."container_config"."image_id", "crux"."container_config"."instance_id", "crux"."container_config"."deployment_id", "crux"."container_config"."config_bundle_id") = 1);