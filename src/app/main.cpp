#include "app/commands.h"

int main(int argc, char** argv) { return footnote::app::run_program({argv + (argc > 0 ? 1 : 0), argv + argc}); }
