#include "onceward/run.h"

int main(int argc, char** argv) { return onceward::run(argc, argv); }
